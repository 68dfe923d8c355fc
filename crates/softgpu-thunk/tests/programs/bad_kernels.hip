// A kernel that cannot go on: the program is told, and what the kernel should have written is not taken for done.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstring>

__global__ void load_from_nowhere(const int *from, int *to) { *to = *from; }
__global__ void store_to_nowhere(int *to) { to[threadIdx.x] = 1; }
__global__ void trap() { __builtin_trap(); }
__global__ void unknown_instruction(int *to) {
    // SOPP has no operation 127.
    asm volatile(".long 0xbfff0000");
    *to = 1;
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    int *p;
    if (hipMalloc(&p, 4096) != hipSuccess) return 3;
    int *freed = (int *)0x7f0000000000;
    if (!strcmp(argv[1], "load")) load_from_nowhere<<<1, 1>>>(freed, p);
    if (!strcmp(argv[1], "store")) store_to_nowhere<<<1, 64>>>(freed);
    if (!strcmp(argv[1], "trap")) trap<<<1, 1>>>();
    if (!strcmp(argv[1], "unknown")) unknown_instruction<<<1, 1>>>(p);
    hipError_t error = hipDeviceSynchronize();
    printf("done: %s\n", hipGetErrorString(error));
    return error == hipSuccess ? 0 : 4;
}
