// CUDA graphs: captured and built by hand, with memsets, copies, graphs within and a host function; changed and updated after
// they were instantiated. Kernel nodes are replayed in batch windows; the graph with a host function declines.
#include <vector>
#include "check.cuh"

constexpr unsigned count = 8191;
constexpr dim3 blocks((count + 255) / 256), threads(256);

__global__ void step(unsigned* data, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] = next_value(data[i]);
}

__global__ void add(unsigned* to, const unsigned* from, unsigned n, unsigned weight) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] += from[i] * weight;
}

static void host_function(void* calls) { ++*static_cast<unsigned*>(calls); }

static cudaGraphNode_t kernel_node(cudaGraph_t graph, cudaGraphNode_t after, void* function, void** arguments) {
    cudaKernelNodeParams params{};
    params.func = function;
    params.gridDim = blocks;
    params.blockDim = threads;
    params.kernelParams = arguments;
    cudaGraphNode_t node;
    CHECK(cudaGraphAddKernelNode(&node, graph, after ? &after : nullptr, after ? 1 : 0, &params));
    return node;
}

int main() {
    std::vector<unsigned> a(count), b(count, 0), c(count, 0), found(count);
    for (unsigned i = 0; i < count; i++) a[i] = first_value(i);
    auto *da = device_array<unsigned>(count), *db = device_array<unsigned>(count), *dc = device_array<unsigned>(count);
    CHECK(cudaMemcpy(da, a.data(), count * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(db, 0, count * 4));
    CHECK(cudaMemset(dc, 0, count * 4));
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    unsigned n = count;
    step<<<blocks, threads, 0, stream>>>(da, n);
    for (auto& v : a) v = next_value(v);

    // Captured: three steps, a memset, a copy, one more kernel. The graph goes once it is instantiated, as PyTorch does it.
    cudaGraph_t graph;
    cudaGraphExec_t captured;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int k = 0; k < 3; k++) step<<<blocks, threads, 0, stream>>>(da, n);
    CHECK(cudaMemsetAsync(db, 1, count * 4, stream));
    CHECK(cudaMemcpyAsync(dc, db, count * 4, cudaMemcpyDeviceToDevice, stream));
    add<<<blocks, threads, 0, stream>>>(dc, da, n, 5u);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&captured, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    for (int k = 0; k < 4; k++) {
        CHECK(cudaGraphLaunch(captured, stream));
        for (unsigned i = 0; i < count; i++) {
            for (int s = 0; s < 3; s++) a[i] = next_value(a[i]);
            b[i] = 0x01010101u;
            c[i] = b[i] + a[i] * 5;
        }
    }
    // Between graphs an ordinary launch.
    step<<<blocks, threads, 0, stream>>>(db, n);
    for (auto& v : b) v = next_value(v);

    // By hand: a kernel, a graph within, another kernel.
    unsigned weight = 3;
    void *steps[] = {&da, &n}, *steps_of_b[] = {&db, &n}, *adds[] = {&dc, &da, &n, &weight};
    cudaGraph_t inner;
    CHECK(cudaGraphCreate(&inner, 0));
    kernel_node(inner, nullptr, reinterpret_cast<void*>(step), steps_of_b);
    CHECK(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t first = kernel_node(graph, nullptr, reinterpret_cast<void*>(step), steps), within;
    CHECK(cudaGraphAddChildGraphNode(&within, graph, &first, 1, inner));
    cudaGraphNode_t last = kernel_node(graph, within, reinterpret_cast<void*>(add), adds);
    cudaGraphExec_t built;
    CHECK(cudaGraphInstantiate(&built, graph, 0));
    auto launch_built = [&](unsigned by, unsigned* to) {
        CHECK(cudaGraphLaunch(built, stream));
        for (unsigned i = 0; i < count; i++) {
            a[i] = next_value(a[i]);
            b[i] = next_value(b[i]);
            to[i] += a[i] * by;
        }
    };
    launch_built(3, c.data());
    // Changed: another weight, and another target.
    weight = 11;
    void* others[] = {&db, &da, &n, &weight};
    cudaKernelNodeParams params{};
    params.func = reinterpret_cast<void*>(add);
    params.gridDim = blocks;
    params.blockDim = threads;
    params.kernelParams = others;
    CHECK(cudaGraphExecKernelNodeSetParams(built, last, &params));
    for (int k = 0; k < 2; k++) launch_built(11, b.data());
    // The graph within exchanged for one over another array.
    void* steps_of_c[] = {&dc, &n};
    cudaGraph_t inner_of_c;
    CHECK(cudaGraphCreate(&inner_of_c, 0));
    kernel_node(inner_of_c, nullptr, reinterpret_cast<void*>(step), steps_of_c);
    CHECK(cudaGraphExecChildGraphNodeSetParams(built, within, inner_of_c));
    CHECK(cudaGraphLaunch(built, stream));
    for (unsigned i = 0; i < count; i++) {
        a[i] = next_value(a[i]);
        c[i] = next_value(c[i]);
        b[i] += a[i] * 11;
    }
    // Updated from a graph of the same shape.
    weight = 7;
    cudaGraph_t twin;
    CHECK(cudaGraphCreate(&twin, 0));
    cudaGraphNode_t twin_first = kernel_node(twin, nullptr, reinterpret_cast<void*>(step), steps), twin_within;
    CHECK(cudaGraphAddChildGraphNode(&twin_within, twin, &twin_first, 1, inner));
    kernel_node(twin, twin_within, reinterpret_cast<void*>(add), adds);
    cudaGraphExecUpdateResultInfo info;
    CHECK(cudaGraphExecUpdate(built, twin, &info));
    launch_built(7, c.data());

    // A copy from the host, whose content changes between launches.
    std::vector<unsigned> source(count);
    cudaGraph_t loading;
    cudaGraphNode_t load;
    cudaGraphExec_t loader;
    CHECK(cudaGraphCreate(&loading, 0));
    CHECK(cudaGraphAddMemcpyNode1D(&load, loading, nullptr, 0, db, source.data(), count * 4, cudaMemcpyHostToDevice));
    kernel_node(loading, load, reinterpret_cast<void*>(step), steps_of_b);
    CHECK(cudaGraphInstantiate(&loader, loading, 0));
    for (unsigned k = 1; k < 3; k++) {
        for (unsigned i = 0; i < count; i++) source[i] = i * k, b[i] = next_value(source[i]);
        CHECK(cudaGraphLaunch(loader, stream));
        CHECK(cudaStreamSynchronize(stream));
    }

    // A host function runs once, whatever is done with the graph.
    unsigned calls = 0;
    cudaHostNodeParams host{host_function, &calls};
    cudaGraph_t calling;
    cudaGraphNode_t node;
    cudaGraphExec_t caller;
    CHECK(cudaGraphCreate(&calling, 0));
    node = kernel_node(calling, nullptr, reinterpret_cast<void*>(step), steps);
    CHECK(cudaGraphAddHostNode(&node, calling, &node, 1, &host));
    CHECK(cudaGraphInstantiate(&caller, calling, 0));
    CHECK(cudaGraphLaunch(caller, stream));
    for (auto& v : a) v = next_value(v);
    CHECK(cudaStreamSynchronize(stream));
    EXPECT(calls == 1, "called %u times", calls);

    const std::vector<unsigned>* expected[] = {&a, &b, &c};
    unsigned* arrays[] = {da, db, dc};
    for (int k = 0; k < 3; k++) {
        CHECK(cudaMemcpy(found.data(), arrays[k], count * 4, cudaMemcpyDeviceToHost));
        for (unsigned i = 0; i < count; i++) EXPECT(found[i] == (*expected[k])[i], "array %d element %u", k, i);
    }
    return finish("graphs");
}
