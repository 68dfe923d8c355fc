"""CUPTI's bare window around steps of the training workload: `python train_bare.py LIBRARY METRICS WIDTH STEPS`.

Each pass runs the steps of train_step.py between a start and a stop; nothing is put back, so the passes go on training, and only
what counting costs is told. The first start, which prepares the hardware once, is left out.
"""
import ctypes
import sys
import time

import torch

from train_step_model import Block

library, metrics, width, steps = ctypes.CDLL(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
torch.manual_seed(0)
model = torch.nn.Sequential(*[Block(width) for _ in range(8)]).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
x, y = torch.randn(256, width, device="cuda"), torch.randn(256, width, device="cuda")


def step():
    optimizer.zero_grad()
    loss = ((model(x) - y) ** 2).mean()
    loss.backward()
    optimizer.step()
    return loss.item()


def run():
    start = time.perf_counter()
    for _ in range(steps):
        step()
    torch.cuda.synchronize()
    return time.perf_counter() - start


run()
plain = run()
passes = library.window_open(metrics.encode(), 150 * steps)
if passes < 0:
    sys.exit("no window could be opened")
counted = 0.0
for number in range(passes):
    start = time.perf_counter()
    library.window_start()
    began = time.perf_counter()
    run()
    library.window_stop()
    counted += time.perf_counter() - (began if number == 0 else start)
launches = library.window_close()
print(f"passes {passes} launches {launches} counted {counted * 1e3:.3f} ms plain {plain * 1e3:.3f} ms")
