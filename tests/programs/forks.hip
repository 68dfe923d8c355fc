// A process that forks while its kernels are profiled: a child has none of the threads, and whatever it does, the parent
// goes on. Its argument is the case.
// a suite of its own: forks
// without restore: advance
#include "check.h"

#include <dlfcn.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>

extern char** environ;

static const size_t kCount = 3000;

// What one thread of the program changes, launch by launch.
struct Work {
    std::vector<uint32_t> host;
    uint32_t* data;
    explicit Work(uint64_t seed) : host(random_words(kCount, seed)), data(device_array(host)) {}
};

__global__ void advance(uint32_t* data, size_t count) {
    size_t i = global_index();
    if (i < count) data[i] = next_word(data[i]);
}

__global__ void slow(uint32_t* data, uint32_t rounds) {
    uint32_t word = data[global_index()];
    for (uint32_t round = 0; round < rounds; round++) word = next_word(word);
    data[global_index()] = word;
}

static void launch(Work& work) {
    advance<<<blocks(kCount), kBlock>>>(work.data, kCount);
    CHECK(hipGetLastError());
    for (uint32_t& word : work.host) word = next_word(word);
}

// The child's end: its exit code, or 128 + the signal; 255 when it hangs. It is killed then.
static int ended(pid_t child) {
    int status = 0;
    for (int waits = 0; waits < 30000; waits++) {
        pid_t waited = waitpid(child, &status, WNOHANG);
        if (waited == child) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        usleep(1000);
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return 255;
}

static pid_t forked() {
    std::fflush(stdout);
    pid_t child = fork();
    if (child < 0) std::exit(3);
    return child;
}

// One kernel in a program of its own.
static int other_program() {
    Work work(77);
    launch(work);
    verdict("other", fetch(work.data, kCount), work.host);
    return finish();
}

static std::string self() {
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    return std::string(path, length > 0 ? size_t(length) : 0);
}

static int case_exit() {
    pid_t child = forked();
    if (child == 0) std::exit(7);
    return ended(child);
}

static int case_quick() {
    pid_t child = forked();
    if (child == 0) _exit(7);
    return ended(child);
}

static int case_exec() {
    std::string program = self();
    pid_t child = forked();
    if (child == 0) {
        execl(program.c_str(), program.c_str(), "other", nullptr);
        _exit(9);
    }
    return ended(child);
}

static int case_vfork() {
    std::string program = self();
    std::fflush(stdout);
    pid_t child = vfork();
    if (child == 0) {
        execl(program.c_str(), program.c_str(), "other", nullptr);
        _exit(9);
    }
    return ended(child);
}

static int case_spawn() {
    std::string program = self(), argument = "other";
    char* arguments[] = {program.data(), argument.data(), nullptr};
    std::fflush(stdout);
    pid_t child;
    if (posix_spawn(&child, program.c_str(), nullptr, nullptr, arguments, environ) != 0) std::exit(3);
    return ended(child);
}

// A daemon: the grandchild ends, by exit, when the child has.
static int case_daemon() {
    int pipe_[2];
    if (pipe(pipe_) != 0) std::exit(3);
    pid_t child = forked();
    if (child == 0) {
        if (fork() == 0) {
            close(pipe_[0]);
            setsid();
            char word = 'g';
            if (write(pipe_[1], &word, 1) != 1) _exit(1);
            std::exit(5);
        }
        std::exit(4);
    }
    close(pipe_[1]);
    int code = ended(child);
    char words[2];
    // The end comes when the grandchild has gone.
    ssize_t got = read(pipe_[0], words, 1), end = read(pipe_[0], words + 1, 1);
    close(pipe_[0]);
    return got == 1 && end == 0 ? code : 255;
}

static int case_killed() {
    pid_t child = forked();
    if (child == 0) for (;;) pause();
    kill(child, SIGKILL);
    return ended(child);
}

// What a child does with the device, if it cannot let it be. In other calls than these the runtime itself hangs there.
static void misuse(hipEvent_t event) {
    void* memory = nullptr;
    hipStream_t stream;
    (void)hipMalloc(&memory, 1 << 20);
    (void)hipHostMalloc(&memory, 1 << 20);
    (void)hipStreamCreate(&stream);
    (void)hipEventQuery(event);
    (void)hipEventDestroy(event);
}

// A child that uses the device, for which it has no right: it does not hang (0), and the parent does not notice.
static int case_uses() {
    Work work(50);
    hipEvent_t event;
    CHECK(hipEventCreate(&event));
    launch(work);
    CHECK(hipEventRecord(event));
    pid_t child = forked();
    if (child == 0) {
        std::fclose(stderr);
        misuse(event);
        std::exit(7);
    }
    int code = ended(child) == 255 ? 255 : 0;
    if (fetch(work.data, kCount) != work.host) code = 254;
    CHECK(hipEventDestroy(event));
    CHECK(hipFree(work.data));
    return code;
}

// Children are forked while a kernel runs that another thread has launched, and free memory by the runtime's own call, with nothing
// of HIP's before it. The runtime may end them for that, but nobody may make them wait for that kernel.
static int case_busy() {
    auto free_ = reinterpret_cast<int (*)(void*)>(dlsym(RTLD_DEFAULT, "hsa_amd_memory_pool_free"));
    if (!free_) return 9;
    uint32_t* data = poisoned<uint32_t>(64);
    uint32_t* other = poisoned<uint32_t>(1 << 20);
    CHECK(hipDeviceSynchronize());
    std::atomic<bool> done{false};
    std::thread launching([&] {
        slow<<<1, 64>>>(data, 2000000);
        CHECK(hipDeviceSynchronize());
        done = true;
    });
    int code = 0;
    for (int time = 0; time < 5 && !done && code == 0; time++) {
        usleep(30000);
        pid_t child = forked();
        if (child == 0) {
            std::fclose(stderr);
            free_(other);
            _exit(7);
        }
        code = ended(child) == 255 ? 255 : 0;
    }
    launching.join();
    CHECK(hipFree(data));
    CHECK(hipFree(other));
    return code;
}

// The child outlives its parent, which is killed; it ends when this file is there.
static int case_outlives(const char* file) {
    if (forked() == 0) {
        std::fclose(stdout);
        std::fclose(stderr);
        for (int waits = 0; waits < 120000 && access(file, F_OK) != 0; waits++) usleep(1000);
        std::exit(0);
    }
    CHECK(hipDeviceSynchronize());
    raise(SIGKILL);
    return 0;
}

// What the runtime does where it was shut down before the fork and is started in the child: it hands its table to the library.
static int case_restart() {
    pid_t child = forked();
    if (child == 0) {
        void* library = dlopen(std::getenv("HSA_TOOLS_LIB"), RTLD_NOW | RTLD_NOLOAD);
        auto load = library ? reinterpret_cast<bool (*)(void*, uint64_t, uint64_t, const char* const*)>(dlsym(library, "OnLoad"))
                            : nullptr;
        if (!load) std::exit(9);
        std::exit(load(nullptr, 0, 0, nullptr) ? 8 : 7);
    }
    return ended(child);
}

int main(int argc, char** argv) {
    std::string wanted = argc > 1 ? argv[1] : "";
    if (wanted == "other") return other_program();
    Work work(1);
    launch(work);
    struct Case { const char* name; int (*run)(); } cases[] = {
        {"exit", case_exit}, {"quick", case_quick}, {"exec", case_exec}, {"vfork", case_vfork}, {"spawn", case_spawn},
        {"daemon", case_daemon}, {"killed", case_killed}, {"uses", case_uses}, {"busy", case_busy},
        {"restart", case_restart},
    };
    if (wanted == "outlives" && argc > 2) return case_outlives(argv[2]);
    for (const Case& one : cases) {
        if (wanted != one.name) continue;
        int code = one.run();
        std::printf("%s: %d\n", one.name, code);
        launch(work);
        launch(work);
    }
    verdict("advance", fetch(work.data, kCount), work.host);
    CHECK(hipFree(work.data));
    return finish();
}
