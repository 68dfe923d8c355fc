// Memory that another process is given and writes.
// without restore:
// a suite of its own
#include "check.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

static const size_t kCount = 1024;

__global__ void advance(uint32_t* data) { data[global_index()] = next_word(data[global_index()]); }

__global__ void beside(uint32_t* data) { data[global_index()] += 3; }

static void launch(void (*kernel)(uint32_t*), uint32_t* data) {
    kernel<<<blocks(kCount), kBlock>>>(data);
    CHECK(hipGetLastError());
    CHECK(hipDeviceSynchronize());
}

// The other process: its handle comes by its input.
static int other() {
    hipIpcMemHandle_t handle;
    if (read(0, &handle, sizeof handle) != sizeof handle) return 3;
    void* data = nullptr;
    CHECK(hipIpcOpenMemHandle(&data, handle, hipIpcMemLazyEnablePeerAccess));
    launch(advance, static_cast<uint32_t*>(data));
    CHECK(hipIpcCloseMemHandle(data));
    return finish();
}

static void let_another_process_advance(uint32_t* data) {
    hipIpcMemHandle_t handle;
    CHECK(hipIpcGetMemHandle(&handle, data));
    int ends[2];
    if (pipe(ends) != 0) std::exit(3);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], 0);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    char program[] = "/proc/self/exe", argument[] = "other";
    char* arguments[] = {program, argument, nullptr};
    pid_t child = 0;
    if (posix_spawn(&child, program, &actions, nullptr, arguments, environ) != 0) std::exit(3);
    posix_spawn_file_actions_destroy(&actions);
    int status = 0;
    if (write(ends[1], &handle, sizeof handle) != sizeof handle || waitpid(child, &status, 0) != child) std::exit(3);
    if (status != 0) std::exit(4);
    for (int end : ends) close(end);
}

int main(int argc, char**) {
    if (argc > 1) return other();
    auto shared = random_words(kCount, 31), own = random_words(kCount, 32);
    uint32_t *data = device_array(shared), *out = device_array(own);
    launch(advance, data);
    launch(beside, out);
    let_another_process_advance(data);
    launch(beside, out);
    launch(advance, data);
    launch(beside, out);
    for (uint32_t& word : shared) word = next_word(next_word(next_word(word)));
    for (uint32_t& word : own) word += 9;
    verdict("advance", fetch(data, kCount), shared);
    verdict("beside", fetch(out, kCount), own);
    CHECK(hipFree(data));
    CHECK(hipFree(out));
    return finish();
}
