// A program whose first launch is that of a global constructor of a library that it opens; with the argument `late` there is a context
// before that.
#include <cstring>
#include <dlfcn.h>
#include <string>
#include "check.cuh"

int main(int count, char** arguments) {
    if (count > 1 && std::strcmp(arguments[1], "late") == 0) CHECK(cudaFree(nullptr));
    std::string path = std::string(arguments[0]) + ".so";
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) return std::fprintf(stderr, "%s\n", dlerror()), 2;
    auto launch = reinterpret_cast<void (*)()>(dlsym(library, "launch"));
    auto finished = reinterpret_cast<int (*)()>(dlsym(library, "finished"));
    if (!launch || !finished) return std::fprintf(stderr, "%s lacks a function\n", path.c_str()), 2;
    for (int i = 0; i < 4; i++) launch();
    CHECK(cudaDeviceSynchronize());
    EXPECT(finished() == 0, "the library's array is wrong");
    return finish("constructing");
}
