// Ten kinds of kernels in turn, for values kernel by kernel: ten_kinds LAUNCHES_OF_EACH
#include "kinds.hpp"

int main(int argc, char** argv) {
    if (argc != 2) return std::fprintf(stderr, "usage: ten_kinds LAUNCHES_OF_EACH\n"), 2;
    Kinds kinds;
    for (int k = 0; k < std::atoi(argv[1]); k++)
        for (int kind = 0; kind < Kinds::ALL; kind++) kinds.launch(kind);
    CUDA(cudaDeviceSynchronize());
    std::printf("ten_kinds: done\n");
}
