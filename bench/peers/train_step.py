"""The training workload of the peer benchmarks: `python train_step.py WIDTH STEPS`.

Prints the last losses with nine digits, so that a profiled run can be compared with an unprofiled one bit for bit, and when the first step began, in seconds since 1970.
"""
import sys
import time

import torch

from train_step_model import Block

width, steps = int(sys.argv[1]), int(sys.argv[2])
torch.manual_seed(0)
model = torch.nn.Sequential(*[Block(width) for _ in range(8)]).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
x, y = torch.randn(256, width, device="cuda"), torch.randn(256, width, device="cuda")
torch.cuda.synchronize()
start, losses = time.time(), []
print(f"begun {start:.3f}", flush=True)
for _ in range(steps):
    optimizer.zero_grad()
    loss = ((model(x) - y) ** 2).mean()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
torch.cuda.synchronize()
print(f"width {width} steps {steps} seconds {time.time() - start:.3f} losses", *(f"{v:.9g}" for v in losses[-3:]))
