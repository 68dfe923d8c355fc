"""PyTorch training with convolution (cuDNN), attention (SDPA) and linear layers (cuBLAS), by one of its allocators:
torch_allocators.py default|expandable|async. All three print the same values."""
import os
import sys

SETTING = {"default": "", "expandable": "expandable_segments:True", "async": "backend:cudaMallocAsync"}[sys.argv[1]]
os.environ["PYTORCH_CUDA_ALLOC_CONF"] = SETTING
os.environ["PYTORCH_ALLOC_CONF"] = SETTING
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

import torch

from shown import show

torch.use_deterministic_algorithms(True)
torch.manual_seed(0)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = torch.nn.Conv2d(3, 64, 3, padding=1)
        self.attention = torch.nn.MultiheadAttention(64, 4, batch_first=True)
        self.head = torch.nn.Linear(64, 10)

    def forward(self, x):
        x = torch.nn.functional.gelu(self.convolution(x)).flatten(2).transpose(1, 2)
        q = x.view(x.shape[0], x.shape[1], 4, 16).transpose(1, 2)
        x = x + torch.nn.functional.scaled_dot_product_attention(q, q, q).transpose(1, 2).flatten(2)
        x = x + self.attention(x, x, x, need_weights=False)[0]
        return self.head(x.mean(1))


model = Net().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
x, y = torch.randn(16, 3, 16, 16, device="cuda"), torch.randint(10, (16,), device="cuda")
losses = []
for _ in range(3):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    losses.append(loss.detach())
show("losses", torch.stack(losses).cpu().numpy())
for name, parameter in model.named_parameters():
    show(name, parameter.detach().cpu().numpy())
