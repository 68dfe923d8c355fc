// Device memory shared with another process, which reads and writes it through its own GPU.
#include "check.h"
#include "softgpu.h"
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 3 << 20 };

static void other(const char *text) {
    hsa_amd_ipc_memory_t handle;
    for (int i = 0; i < 8; i++) CHECK(sscanf(text + 9 * i, "%x", &handle.handle[i]) == 1);
    start();
    unsigned char *shared, *here = host_alloc(BYTES);
    HSA(hsa_amd_ipc_memory_attach(&handle, BYTES, 1, &gpu, (void **)&shared));
    hsa_amd_pointer_info_t info = {.size = sizeof info};
    HSA(hsa_amd_pointer_info(shared, &info, NULL, NULL, NULL));
    CHECK(info.type == HSA_EXT_POINTER_TYPE_IPC);
    memset(here, 0xa5, BYTES);
    hsa_signal_t done = signal_of(1);
    HSA(hsa_amd_memory_async_copy(here, cpu, shared, gpu, BYTES, 0, NULL, done));
    CHECK(zero_within(done, 30));
    for (int i = 0; i < BYTES; i++) CHECK(here[i] == (unsigned char)(i * 3));
    memset(here, 0x5a, 4096);
    hsa_signal_store_relaxed(done, 1);
    HSA(hsa_amd_memory_async_copy(shared + 8192, gpu, here, cpu, 4096, 0, NULL, done));
    CHECK(zero_within(done, 30));
    HSA(hsa_amd_ipc_memory_detach(shared));
    HSA(hsa_shut_down());
    exit(0);
}

int main(int argc, char **argv) {
    if (argc > 1) other(argv[1]);
    start();
    unsigned char *memory = vram_alloc(BYTES);
    for (int i = 0; i < BYTES; i++) memory[i] = i * 3;
    hsa_amd_ipc_memory_t handle;
    HSA(hsa_amd_ipc_memory_create(memory, BYTES, &handle));
    char text[9 * 8 + 1], *at = text;
    for (int i = 0; i < 8; i++) at += sprintf(at, "%08x ", handle.handle[i]);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        execl("/proc/self/exe", argv[0], text, NULL);
        _exit(9);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    for (int i = 0; i < BYTES; i++) CHECK(memory[i] == (i >= 8192 && i < 12288 ? 0x5a : (unsigned char)(i * 3)));
    HSA(hsa_amd_memory_pool_free(memory));
    HSA(hsa_shut_down());
    puts("ipc ok");
    return 0;
}
