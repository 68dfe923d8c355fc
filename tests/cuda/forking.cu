// A program that forks while its launches are recorded: the child touches no GPU, the parent goes on as if nothing had happened.
#include <sys/wait.h>
#include <unistd.h>
#include <vector>
#include "check.cuh"

__global__ void forking_step(unsigned* data, size_t count) {
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x)
        data[i] = next_value(data[i]);
}

int main() {
    constexpr size_t count = 100003;
    constexpr int launches = 30;
    std::vector<unsigned> host(count);
    for (size_t i = 0; i < count; i++) host[i] = first_value(i);
    unsigned* data = device_array<unsigned>(count);
    CHECK(cudaMemcpy(data, host.data(), count * 4, cudaMemcpyHostToDevice));
    std::vector<pid_t> children;
    for (int i = 0; i < launches; i++) {
        forking_step<<<132, 256>>>(data, count);
        if (i % 10 != 5) continue;
        pid_t child = fork();
        if (child == 0) {
            // Longer than the parent's next windows take, and one of them ends by the usual way.
            usleep(200000);
            if (i == 5) std::exit(7);
            _exit(7);
        }
        EXPECT(child > 0, "fork %d", i);
        children.push_back(child);
    }
    std::vector<unsigned> found(count, 0xdeadbeef);
    CHECK(cudaMemcpy(found.data(), data, count * 4, cudaMemcpyDeviceToHost));
    for (pid_t child : children) {
        int status = 0;
        EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7, "status %x", unsigned(status));
    }
    for (size_t i = 0; i < count; i++) {
        unsigned expected = host[i];
        for (int k = 0; k < launches; k++) expected = next_value(expected);
        EXPECT(found[i] == expected, "element %zu", i);
    }
    return finish("forking");
}
