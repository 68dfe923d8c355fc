// Ends the program with what the runtime says where a call of it fails.
#pragma once
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

#define CUDA(call)                                                                           \
    do {                                                                                     \
        cudaError_t status_ = (call);                                                        \
        if (status_) std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(status_)), std::exit(2); \
    } while (0)
