// Memory that other processes may write.
#pragma once
#include "cases.h"

// Waits for an answer of somebody's who watches what it writes.
__global__ void ask(volatile uint32_t* question, volatile uint32_t* const* table) {
    if (global_index() != 0) return;
    question[0] = 1;
    while ((*table)[0] == 0) {
    }
    question[1] = (*table)[0];
}

// Memory is handed to another process while a window is open that has it; and what is allocated later is nobody else's.
static void exported(hsa_status_t (*call)(void*, size_t)) {
    Out out, shared, later;
    for (Out* one : {&shared, &out}) {
        launch(advance, one->data);
        advance_words(one->expected);
    }
    // What is within it is not all that is shared.
    MUST(call(shared.data + 8, 16));
    for (Out* one : {&shared, &out}) {
        launch(advance, one->data);
        advance_words(one->expected);
    }
    shared.check("shared");
    CHECK(hipFree(shared.data));
    later.data = device_array(later.expected);
    for (Out* one : {&later, &out}) {
        launch(advance, one->data);
        advance_words(one->expected);
        one->check("unshared");
    }
}

// A mapping's memory is handed to another process: all that is mapped of it, then and later; until its number is another's.
static void exported_handle() {
    Out out;
    uint64_t handle = calls->create(kBytes);
    void* addresses[] = {calls->reserve(kBytes), calls->reserve(kBytes), calls->reserve(kBytes)};
    for (int i : {0, 1}) mapped(addresses[i], handle);
    auto expected = filled(5);
    launch(fill, static_cast<uint32_t*>(addresses[0]), 5u);
    MUST(calls->share(handle));
    for (int i : {0, 1, 2}) {
        if (i == 2) mapped(addresses[2], handle);
        launch(advance, static_cast<uint32_t*>(addresses[i]));
        advance_words(expected);
    }
    // Access that changes gives nothing back.
    MUST(calls->access(addresses[1], kBytes, HSA_ACCESS_PERMISSION_RW));
    launch(add, out.data, static_cast<const uint32_t*>(addresses[1]));
    out.adds(expected);
    for (void* address : addresses) MUST(calls->unmap(address, kBytes));
    calls->release(handle);
    if (calls->create(kBytes) != handle) std::exit(3);
    mapped(addresses[0], handle);
    launch(fill, static_cast<uint32_t*>(addresses[0]), 7u);
    launch(add, out.data, static_cast<const uint32_t*>(addresses[0]));
    out.adds(filled(7));
    out.check("exported handle");
    MUST(calls->unmap(addresses[0], kBytes));
}

// Another process's memory, mapped here.
static void imported_handle() {
    Out out;
    auto data = mapped(calls->reserve(kBytes), calls->import(kBytes));
    launch(fill, data, 5u);
    launch(advance, out.data);
    advance_words(out.expected);
    launch(add, out.data, static_cast<const uint32_t*>(data));
    out.adds(filled(5));
    out.check("imported handle");
    MUST(calls->unmap(data, kBytes));
}

// What another process writes within a window stays, though it does so only once.
static void answered() {
    std::vector<uint32_t> zeroes(2);
    volatile uint32_t *question = device_array(zeroes), *answer = device_array(zeroes);
    auto table = device_array(std::vector<volatile uint32_t*>{answer});
    MUST(calls->ipc(const_cast<uint32_t*>(answer), 8));
    std::thread other([&] {
        while (question[0] != 1) std::this_thread::yield();
        answer[0] = 5;
    });
    launch(ask, question, static_cast<volatile uint32_t* const*>(table));
    other.join();
    verdict("ask", fetch(const_cast<uint32_t*>(question), 2), std::vector<uint32_t>{1, 5});
    verdict("answer", fetch(const_cast<uint32_t*>(answer), 1), std::vector<uint32_t>{5});
}

// No allocation tells of a variable that is handed to another process.
static void exported_variable() {
    Out out;
    void* address = nullptr;
    CHECK(hipGetSymbolAddress(&address, HIP_SYMBOL(variable)));
    launch(fill, static_cast<uint32_t*>(address), 3u);
    MUST(calls->ipc(address, kBytes));
    launch(add, out.data, static_cast<const uint32_t*>(address));
    out.adds(filled(3));
    launch(advance, out.data);
    advance_words(out.expected);
    out.check("exported variable");
}
