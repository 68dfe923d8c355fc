// A library with kernels that is closed while its launches are recorded, and opened again.
#include <dlfcn.h>
#include <string>
#include "check.cuh"

__global__ void unloading_step(unsigned* data, size_t count) {
    step_all(data, count);
}

int main(int, char** arguments) {
    constexpr size_t count = 100003;
    constexpr int rounds = 3, launches = 4;
    std::string path = std::string(arguments[0]) + ".so";
    Recurrence array(count);
    unsigned* data = array.data;
    for (int round = 0; round < rounds; round++) {
        void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!library) return std::fprintf(stderr, "%s\n", dlerror()), 2;
        auto launch = reinterpret_cast<void (*)(unsigned*, size_t)>(dlsym(library, "launch"));
        auto counted = reinterpret_cast<unsigned (*)()>(dlsym(library, "launches"));
        auto hold = reinterpret_cast<void (*)()>(dlsym(library, "hold"));
        if (!launch || !counted || !hold) return std::fprintf(stderr, "%s lacks a function\n", path.c_str()), 2;
        if (round == rounds - 1) hold();
        for (int i = 0; i < launches; i++) launch(data, count);
        unloading_step<<<132, 256>>>(data, count);
        // Its variables are new each time.
        if (round == 1) EXPECT(counted() == launches, "%u launches", counted());
        dlclose(library);
        unloading_step<<<132, 256>>>(data, count);
    }
    array.expect(rounds * (launches + 2));
    return finish("unloading");
}
