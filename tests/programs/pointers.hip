// Memory that no argument points at: tables of pointers, structures that hold pointers, lists.
// without restore: table structure chain
#include "check.h"

__global__ void table(uint32_t** rows, size_t count, size_t length) {
    size_t i = global_index();
    if (i < count * length) rows[i / length][i % length] += uint32_t(i);
}

struct Vector {
    uint32_t* data;
    size_t length;
};

struct Job {
    Vector from;
    Vector* to;
    uint32_t scale;
};

__global__ void structure(Job job) {
    size_t i = global_index();
    if (i < job.to->length) job.to->data[i] += job.scale * job.from.data[i];
}

struct Node {
    Node* next;
    uint32_t value;
};

// One work-item walks a list and changes each node.
__global__ void chain(Node* first) {
    for (Node* node = first; node != nullptr; node = node->next) node->value = next_word(node->value);
}

int main() {
    const size_t rows = 40, length = 100;
    std::vector<std::vector<uint32_t>> host;
    std::vector<uint32_t*> addresses;
    for (size_t row = 0; row < rows; row++) {
        host.push_back(random_words(length, 10 + row));
        addresses.push_back(device_array(host.back()));
    }
    uint32_t** device_rows = device_array(addresses);
    for (int launch = 0; launch < 2; launch++) table<<<blocks(rows * length), kBlock>>>(device_rows, rows, length);
    std::vector<uint32_t> found, expected;
    for (size_t row = 0; row < rows; row++) {
        auto part = fetch(addresses[row], length);
        found.insert(found.end(), part.begin(), part.end());
        for (size_t i = 0; i < length; i++) expected.push_back(host[row][i] + 2 * uint32_t(row * length + i));
    }
    verdict("table", found, expected);

    auto from = random_words(1000, 60), to = random_words(1000, 61);
    uint32_t* device_to = device_array(to);
    Job job{{device_array(from), 1000}, device_array(std::vector<Vector>{{device_to, 1000}}), 7};
    structure<<<blocks(1000), kBlock>>>(job);
    for (size_t i = 0; i < 1000; i++) to[i] += 7 * from[i];
    verdict("structure", fetch(device_to, 1000), to);

    std::vector<Node*> nodes;
    for (int i = 0; i < 30; i++) nodes.push_back(poisoned<Node>(1));
    expected.clear();
    for (size_t i = 0; i < nodes.size(); i++) {
        upload(nodes[i], std::vector<Node>{{i + 1 < nodes.size() ? nodes[i + 1] : nullptr, uint32_t(i)}});
        expected.push_back(next_word(next_word(uint32_t(i))));
    }
    chain<<<1, 1>>>(nodes[0]);
    chain<<<1, 1>>>(nodes[0]);
    CHECK(hipGetLastError());
    found.clear();
    for (Node* node : nodes) found.push_back(fetch(node, 1)[0].value);
    verdict("chain", found, expected);
    return finish();
}
