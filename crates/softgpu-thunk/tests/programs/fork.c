// A child of a process with a device: it has none, says so, and does not hang at its end.
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
    start();
    hsa_queue_t *queue;
    HSA(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue));
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        void *p;
        _exit(hsa_amd_memory_pool_allocate(vram_pool, 8 << 20, 0, &p) != HSA_STATUS_SUCCESS ? 7 : 8);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    // The parent goes on.
    hsa_signal_t done = signal_of(1);
    hsa_barrier_and_packet_t packet = {.completion_signal = done};
    submit(queue, &packet, HSA_PACKET_TYPE_BARRIER_AND);
    CHECK(zero_within(done, 30));
    HSA(hsa_queue_destroy(queue));
    HSA(hsa_shut_down());
    puts("fork ok");
    return 0;
}
