// Several contexts of one device, by the driver interface; the module is loaded into each. nvcc -lcuda
#include <cuda.h>
#include <vector>
#include "check.cuh"

static const char* text = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 runs;
.visible .entry bump(.param .u64 data) {
    .reg .u64 %p<4>;
    .reg .u32 %v<4>;
    ld.param.u64 %p0, [data];
    cvta.to.global.u64 %p0, %p0;
    mov.u32 %v0, %tid.x;
    mul.wide.u32 %p1, %v0, 4;
    add.u64 %p0, %p0, %p1;
    ld.global.u32 %v1, [%p0];
    mad.lo.u32 %v1, %v1, 1664525, 1013904223;
    st.global.u32 [%p0], %v1;
    mov.u64 %p2, runs;
    cvta.to.global.u64 %p2, %p2;
    red.global.add.u32 [%p2], 1;
    ret;
}
)";

int main() {
    constexpr int contexts = 3, launches = 4;
    CUcontext context[contexts];
    CUmodule module[contexts];
    CUfunction function[contexts];
    CUdeviceptr data[contexts];
    CUdevice device;
    DRIVER(cuInit(0));
    DRIVER(cuDeviceGet(&device, 0));
    for (int c = 0; c < contexts; c++) {
        DRIVER(cuCtxCreate(&context[c], nullptr, 0, device));
        DRIVER(cuModuleLoadData(&module[c], text));
        DRIVER(cuModuleGetFunction(&function[c], module[c], "bump"));
        DRIVER(cuMemAlloc(&data[c], 256 * 4));
        DRIVER(cuMemsetD32(data[c], 7 + c, 256));
    }
    for (int k = 0; k < launches; k++)
        for (int c = 0; c < contexts; c++) {
            DRIVER(cuCtxSetCurrent(context[c]));
            void* arguments[] = {&data[c]};
            DRIVER(cuLaunchKernel(function[c], 1, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
        }
    for (int c = 0; c < contexts; c++) {
        DRIVER(cuCtxSetCurrent(context[c]));
        unsigned found[256], runs = 0, expected = 7 + c;
        for (int k = 0; k < launches; k++) expected = next_value(expected);
        DRIVER(cuMemcpyDtoH(found, data[c], sizeof found));
        for (unsigned i = 0; i < 256; i++) EXPECT(found[i] == expected, "context %d element %u", c, i);
        CUdeviceptr variable;
        size_t bytes;
        DRIVER(cuModuleGetGlobal(&variable, &bytes, module[c], "runs"));
        DRIVER(cuMemcpyDtoH(&runs, variable, 4));
        EXPECT(runs == 256 * launches, "context %d: %u runs", c, runs);
        DRIVER(cuMemFree(data[c]));
        DRIVER(cuModuleUnload(module[c]));
    }
    for (int c = 0; c < contexts; c++) DRIVER(cuCtxDestroy(context[c]));
    return finish("contexts");
}
