"""Triton: a kernel in place, one that appends with an atomic counter, and a matrix product with tl.dot."""
import torch
import triton
import triton.language as tl

from shown import show


@triton.jit
def step(data, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(data + at, mask=at < count, other=0)
    tl.store(data + at, value * 1664525 + 1013904223, mask=at < count)


@triton.jit
def histogram(data, bins, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(data + at, mask=at < count, other=0)
    tl.atomic_add(bins + (value & 63), 1, mask=at < count)


@triton.jit
def product(a, b, c, n, TILE: tl.constexpr):
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)
    columns = tl.program_id(1) * TILE + tl.arange(0, TILE)
    total = tl.zeros((TILE, TILE), dtype=tl.float32)
    for start in range(0, n, TILE):
        inner = start + tl.arange(0, TILE)
        left = tl.load(a + rows[:, None] * n + inner[None, :])
        right = tl.load(b + inner[:, None] * n + columns[None, :])
        total += tl.dot(left, right)
    before = tl.load(c + rows[:, None] * n + columns[None, :])
    tl.store(c + rows[:, None] * n + columns[None, :], before + total)


torch.manual_seed(0)
count, n = 100_003, 256
data = torch.arange(count, dtype=torch.int32, device="cuda")
bins = torch.zeros(64, dtype=torch.int32, device="cuda")
a = torch.randn(n, n, device="cuda", dtype=torch.float16)
b = torch.randn(n, n, device="cuda", dtype=torch.float16)
c = torch.zeros(n, n, device="cuda")
grid = (triton.cdiv(count, 1024),)
for _ in range(5):
    step[grid](data, count, BLOCK=1024)
    histogram[grid](data, bins, count, BLOCK=1024)
    product[(n // 64, n // 64)](a, b, c, n, TILE=64)
torch.cuda.synchronize()
show("data", data.cpu().numpy())
show("bins", bins.cpu().numpy())
show("product", c.cpu().numpy())
assert int(bins.sum()) == 5 * count, "a pass was counted twice"
