"""Inference by a network of GPT-2's size as a CUDA graph: graph_inference.py [--layers 12] [--tokens 8]

The network is built by hand with random weights. Tokens are chosen greedily over a sliding context, once launch by launch
and once by replaying a captured graph; both must choose the same, and the logits are printed bit for bit, so that a profiled
run can be compared with one that is not.
"""
import argparse
import hashlib
import os
import sys
import time

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

import torch
from torch.nn import functional

parser = argparse.ArgumentParser()
parser.add_argument("--layers", type=int, default=12)
parser.add_argument("--tokens", type=int, default=8)
parser.add_argument("--width", type=int, default=768)
parser.add_argument("--heads", type=int, default=12)
parser.add_argument("--context", type=int, default=64)
parser.add_argument("--vocabulary", type=int, default=50257)
options = parser.parse_args()


class Layer(torch.nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.first, self.second = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.mix, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def forward(self, x):
        length, width = x.shape
        q, k, v = self.mix(self.first(x)).view(length, 3, self.heads, width // self.heads).permute(1, 2, 0, 3)
        seen = functional.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True)[0]
        x = x + self.out(seen.transpose(0, 1).reshape(length, width))
        return x + self.down(functional.gelu(self.up(self.second(x)), approximate="tanh"))


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = torch.nn.Embedding(options.vocabulary, options.width)
        self.places = torch.nn.Embedding(options.context, options.width)
        self.layers = torch.nn.ModuleList(Layer(options.width, options.heads) for _ in range(options.layers))
        self.norm = torch.nn.LayerNorm(options.width)

    def forward(self, tokens):
        x = self.tokens(tokens) + self.places.weight
        for layer in self.layers:
            x = layer(x)
        return self.norm(x[-1]) @ self.tokens.weight.t()


def generate(step, start):
    """Tokens chosen one after another, and the logits of each step."""
    context, chosen, seen = start.clone(), [], []
    for _ in range(options.tokens):
        logits = step(context)
        token = logits.argmax()
        chosen.append(int(token))
        seen.append(logits.float().cpu().clone())
        context = torch.cat([context[1:], token[None]])
    return chosen, torch.stack(seen)


torch.manual_seed(0)
with torch.inference_mode():
    network = Network().cuda().half().eval()
    start = torch.randint(options.vocabulary, (options.context,), device="cuda")
    # Before a capture everything is chosen and allocated, on a stream of its own.
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(2):
            network(start)
    torch.cuda.current_stream().wait_stream(stream)
    eager, eager_logits = generate(network, start)

    fixed = start.clone()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = network(fixed)

    def replay(context):
        fixed.copy_(context)
        graph.replay()
        return result

    torch.cuda.synchronize()
    begin = time.perf_counter()
    graphed, graphed_logits = generate(replay, start)
    torch.cuda.synchronize()
    seconds = time.perf_counter() - begin

print("tokens", *graphed)
print("logits", hashlib.sha256(graphed_logits.numpy().tobytes()).hexdigest())
print("eager", hashlib.sha256(eager_logits.numpy().tobytes()).hexdigest())
difference = float((eager_logits - graphed_logits).abs().max())
same = eager == graphed and difference <= 1e-2 * float(eager_logits.abs().max())
print(f"eager and graph {'agree' if same else 'differ'}")
print(f"{options.tokens} tokens by graph in {seconds * 1e3:.3f} ms, largest difference {difference:.3g}", file=sys.stderr)
raise SystemExit(0 if same else 1)
