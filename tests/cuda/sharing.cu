// Memory that another process writes while this one's launches are replayed: what it writes stays, and kernels that reach the
// memory decline. The other process writes and reads back all the time, so that it sees who takes its values away.
#include <sys/wait.h>
#include <unistd.h>
#include <vector>
#include "check.cuh"

constexpr size_t shared_count = 1 << 18;

__global__ void own_step(unsigned* data, size_t count) { step_all(data, count); }

__global__ void gather_shared(const unsigned* shared, unsigned* found) {
    if (threadIdx.x == 0 && blockIdx.x == 0) found[0] = shared[shared_count / 2];
}

// Writes a round's number everywhere and looks whether it is there, until the other end of `stop` is closed.
static int write_rounds(int handles, int told, int stop) {
    cudaIpcMemHandle_t handle;
    if (read(handles, &handle, sizeof handle) != sizeof handle) return 3;
    unsigned* shared = nullptr;
    CHECK(cudaIpcOpenMemHandle(reinterpret_cast<void**>(&shared), handle, cudaIpcMemLazyEnablePeerAccess));
    std::vector<unsigned> found(shared_count);
    unsigned round = 0;
    for (char end; round < 50 || read(stop, &end, 1) != 0; round++) {
        std::vector<unsigned> values(shared_count, round);
        CHECK(cudaMemcpy(shared, values.data(), shared_count * 4, cudaMemcpyHostToDevice));
        if (round == 0 && write(told, "!", 1) != 1) return 3;
        usleep(2000);
        CHECK(cudaMemcpy(found.data(), shared, shared_count * 4, cudaMemcpyDeviceToHost));
        EXPECT(found == values, "round %u was taken away", round);
    }
    CHECK(cudaIpcCloseMemHandle(shared));
    return finish("sharing, the other process");
}

int main() {
    int handles[2], told[2], stop[2];
    if (pipe(handles) || pipe(told) || pipe(stop)) return 3;
    // Before either uses the GPU.
    pid_t other = fork();
    if (other == 0) {
        close(stop[1]);
        return write_rounds(handles[0], told[1], stop[0]);
    }
    close(stop[0]);
    constexpr size_t count = 100003;
    constexpr int launches = 400;
    Recurrence array(count);
    unsigned* shared = device_array<unsigned>(shared_count);
    unsigned* found = device_array<unsigned>(1);
    // A window is open before the memory is given away.
    own_step<<<132, 256>>>(array.data, count);
    cudaIpcMemHandle_t handle;
    CHECK(cudaIpcGetMemHandle(&handle, shared));
    char begun;
    bool ready = write(handles[1], &handle, sizeof handle) == sizeof handle && read(told[0], &begun, 1) == 1;
    EXPECT(ready, "the other process did not begin");
    for (int i = 1; ready && i < launches; i++) {
        own_step<<<132, 256>>>(array.data, count);
        if (i % 40 == 0) gather_shared<<<1, 32>>>(shared, found);
        if (i % 20 == 0) CHECK(cudaDeviceSynchronize());
    }
    array.expect(ready ? launches : 1);
    close(stop[1]);
    int status = 0;
    EXPECT(waitpid(other, &status, 0) == other && WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", unsigned(status));
    return finish("sharing");
}
