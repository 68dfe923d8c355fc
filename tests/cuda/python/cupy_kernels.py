"""CuPy: a raw kernel in place, an elementwise kernel, a reduction, a scan, a sort, a matrix product, its memory pool."""
import cupy
import numpy

from shown import show

step = cupy.RawKernel(
    r"""
    extern "C" __global__ void step(unsigned* data, unsigned count) {
        unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < count) data[i] = data[i] * 1664525u + 1013904223u;
    }
    """,
    "step",
)
blend = cupy.ElementwiseKernel("float32 x, float32 y", "float32 z", "z = z * 0.5f + x * y", "blend")
squares = cupy.ReductionKernel("float32 x", "float32 y", "x * x", "a + b", "y = a", "0", "squares")

count = 100_003
data = cupy.arange(count, dtype=cupy.uint32)
generator = numpy.random.default_rng(0)
x, y = (cupy.asarray(generator.standard_normal(count, dtype=numpy.float32)) for _ in range(2))
z = cupy.zeros(count, dtype=cupy.float32)
matrix = cupy.asarray(generator.standard_normal((256, 256), dtype=numpy.float32))
total = cupy.zeros((256, 256), dtype=cupy.float32)
for _ in range(5):
    step(((count + 255) // 256,), (256,), (data, cupy.uint32(count)))
    blend(x, y, z)
    total += matrix @ matrix
expected = numpy.arange(count, dtype=numpy.uint32)
for _ in range(5):
    expected = expected * numpy.uint32(1664525) + numpy.uint32(1013904223)
assert (data.get() == expected).all(), "the recurrence is wrong"
show("data", data.get())
show("blend", z.get())
show("squares", squares(z).get())
show("scan", cupy.cumsum(data.astype(cupy.uint64)).get())
show("sorted", cupy.sort(data).get())
show("product", total.get())
