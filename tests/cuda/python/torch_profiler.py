"""PyTorch's own profiler inside the program: kreplay holds CUPTI, so it gets no GPU activity, and the program goes on."""
import sys

import torch
from torch.profiler import ProfilerActivity, profile

from shown import show

torch.manual_seed(0)
a = torch.randn(256, 256, device="cuda")
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
    for _ in range(3):
        a = torch.tanh(a @ a)
    torch.cuda.synchronize()
kernels = sum(str(event.device_type).endswith("CUDA") for event in profiler.events())
print(f"GPU events seen by torch.profiler: {kernels}", file=sys.stderr)
show("a", a.cpu().numpy())
