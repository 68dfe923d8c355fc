// A program that forks while its launches are recorded: the child touches no GPU, the parent goes on as if nothing had happened.
#include <sys/wait.h>
#include <unistd.h>
#include <vector>
#include "check.cuh"

__global__ void forking_step(unsigned* data, size_t count) {
    step_all(data, count);
}

int main() {
    constexpr size_t count = 100003;
    constexpr int launches = 30;
    Recurrence array(count);
    unsigned* data = array.data;
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
    array.expect(launches);
    for (pid_t child : children) {
        int status = 0;
        EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7, "status %x", unsigned(status));
    }
    return finish("forking");
}
