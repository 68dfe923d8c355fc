// A tool of the runtime that hands packets to the tool which `BUNDLED_TOOL` names as newer runtimes do: several in one call of its
// handler. Debian's hands them over one at a time. Packets are kept back until there are enough, or until no more come for a moment:
// then a barrier is put into the queue, which brings the handler's next call, and stands before them. Only one queue at a time keeps
// packets back, so that those of different queues stay in their order. With `BUNDLED_REFUSES` no queue can be intercepted.
#define AMD_INTERNAL_BUILD
#include <dlfcn.h>
#include <hsa/hsa_api_trace.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

struct alignas(64) Packet {
    uint16_t header, setup;
    uint32_t body[15];
    int kind() const { return header & 0xff; }
};
static_assert(sizeof(Packet) == 64, "as every AQL packet");

using Writer = hsa_amd_queue_intercept_packet_writer;
using Handler = hsa_amd_queue_intercept_handler;

constexpr size_t kMost = 6;
// Short: windows last two seconds, and every wait of the program's takes two of these.
constexpr auto kMoment = std::chrono::microseconds(100);
// In a barrier's reserved word.
constexpr uint32_t kMark = 0x6b72616d;

static CoreApiTable originals;
static AmdExtTable original_extension;

// A queue that is intercepted. Never freed: its thread may outlive it.
struct Bundles {
    hsa_queue_t* queue;
    Handler handler;
    void* data;
    // Under the queue's lock, which the runtime holds while it calls.
    std::vector<Packet> held = {};
    std::atomic<uint64_t> waiting{0}, calls{0};
    // Held while the queue is used by its thread.
    std::mutex using_queue = {};
    bool gone = false;
};

// The queue that keeps packets back.
static std::atomic<Bundles*> holder{nullptr};

static void takes_turn(Bundles* own) {
    for (Bundles* other = nullptr; !holder.compare_exchange_weak(other, own) && other != own; other = nullptr) {
        std::this_thread::yield();
    }
}

static std::mutex lock;
static std::map<hsa_queue_t*, Bundles*>& all() {
    static auto* map = new std::map<hsa_queue_t*, Bundles*>;
    return *map;
}

static void submitted(const void* packets, uint64_t count, uint64_t index, void* data, Writer writer) {
    auto bundles = static_cast<Bundles*>(data);
    auto& held = bundles->held;
    takes_turn(bundles);
    bool full = false;
    for (uint64_t i = 0; i < count; i++) {
        Packet packet = static_cast<const Packet*>(packets)[i];
        bool mark = packet.kind() == HSA_PACKET_TYPE_BARRIER_AND && packet.body[11] == kMark;
        if (mark) packet.body[11] = 0;
        held.insert(mark ? held.begin() : held.end(), packet);
        // A vendor's packets come alone.
        full |= mark || packet.kind() == HSA_PACKET_TYPE_VENDOR_SPECIFIC;
    }
    bundles->calls++;
    if (full || held.size() >= kMost) {
        std::vector<Packet> now;
        now.swap(held);
        bundles->handler(now.data(), now.size(), index, bundles->data, writer);
    }
    bundles->waiting = held.size();
    if (held.empty()) holder = nullptr;
}

// Puts a barrier into the queue.
static void mark(hsa_queue_t* queue) {
    Packet packet{};
    packet.body[11] = kMark;
    uint64_t index = originals.hsa_queue_add_write_index_screlease_fn(queue, 1);
    while (index - originals.hsa_queue_load_read_index_scacquire_fn(queue) >= queue->size) std::this_thread::yield();
    auto slot = static_cast<Packet*>(queue->base_address) + index % queue->size;
    std::memcpy(slot->body, packet.body, sizeof packet.body);
    uint32_t header = HSA_PACKET_TYPE_BARRIER_AND | 1 << HSA_PACKET_HEADER_BARRIER;
    __atomic_store_n(reinterpret_cast<uint32_t*>(slot), header, __ATOMIC_RELEASE);
    originals.hsa_signal_store_screlease_fn(queue->doorbell_signal, int64_t(index));
}

static void flush(Bundles* bundles) {
    for (uint64_t before = 0;;) {
        std::this_thread::sleep_for(kMoment);
        std::lock_guard<std::mutex> hold(bundles->using_queue);
        if (bundles->gone) return;
        uint64_t calls = bundles->calls;
        if (bundles->waiting != 0 && calls == before) mark(bundles->queue);
        before = calls;
    }
}

static hsa_status_t intercept(hsa_queue_t* queue, Handler handler, void* data) {
    if (std::getenv("BUNDLED_REFUSES")) return HSA_STATUS_ERROR;
    auto bundles = new Bundles{queue, handler, data};
    hsa_status_t status = original_extension.hsa_amd_queue_intercept_register_fn(queue, submitted, bundles);
    if (status != HSA_STATUS_SUCCESS) return status;
    std::lock_guard<std::mutex> hold(lock);
    all()[queue] = bundles;
    std::thread(flush, bundles).detach();
    return status;
}

static void ends(Bundles* bundles) {
    std::lock_guard<std::mutex> hold(bundles->using_queue);
    bundles->gone = true;
    Bundles* own = bundles;
    holder.compare_exchange_strong(own, nullptr);
}

static hsa_status_t destroy(hsa_queue_t* queue) {
    Bundles* bundles = nullptr;
    {
        std::lock_guard<std::mutex> hold(lock);
        auto found = all().find(queue);
        if (found != all().end()) {
            bundles = found->second;
            all().erase(found);
        }
    }
    if (bundles) ends(bundles);
    return originals.hsa_queue_destroy_fn(queue);
}

static void* tool(const char* function) {
    const char* name = std::getenv("BUNDLED_TOOL");
    void* library = name ? dlopen(name, RTLD_NOW) : nullptr;
    return library ? dlsym(library, function) : nullptr;
}

extern "C" bool OnLoad(HsaApiTable* table, uint64_t version, uint64_t failed, const char* const* names) {
    originals = *table->core_;
    original_extension = *table->amd_ext_;
    table->amd_ext_->hsa_amd_queue_intercept_register_fn = intercept;
    table->core_->hsa_queue_destroy_fn = destroy;
    auto load = reinterpret_cast<bool (*)(HsaApiTable*, uint64_t, uint64_t, const char* const*)>(tool("OnLoad"));
    return load && load(table, version, failed, names);
}

extern "C" void OnUnload() {
    if (auto unload = reinterpret_cast<void (*)()>(tool("OnUnload"))) unload();
    std::lock_guard<std::mutex> hold(lock);
    for (auto& [queue, bundles] : all()) ends(bundles);
    all().clear();
}
