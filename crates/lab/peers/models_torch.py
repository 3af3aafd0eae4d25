"""The workloads' models in PyTorch, with the parameters of Tacita's."""

import torch
from torch import nn
from torch.nn import functional


def build(name, lstm_layer=nn.LSTM):
    """The model of a workload; Opacus needs an LSTM layer of its own."""
    if name == "lstm":
        return LstmClassifier(lstm_layer)
    return {
        "cnn": cnn,
        "mlp": mlp,
        "embedding-mlp": EmbeddingMlp,
        "autoencoder": autoencoder,
        "transformer": Transformer,
        "resnet9": Resnet9,
        "vgg11": vgg11,
    }[name]()


def cnn(activation=nn.ReLU):
    return nn.Sequential(
        nn.Conv2d(1, 16, 8, stride=2, padding=3),
        activation(),
        nn.MaxPool2d(2, stride=1),
        nn.Conv2d(16, 32, 4, stride=2),
        activation(),
        nn.MaxPool2d(2, stride=1),
        nn.Flatten(),
        nn.Linear(512, 32),
        activation(),
        nn.Linear(32, 10),
    )


def mlp():
    return nn.Sequential(
        nn.Linear(784, 256),
        nn.ReLU(),
        nn.Linear(256, 256),
        nn.ReLU(),
        nn.Linear(256, 10),
    )


class EmbeddingMlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(10_000, 16)
        self.hidden = nn.Linear(16, 16)
        self.output = nn.Linear(16, 2)

    def forward(self, tokens):
        mean = self.embedding(tokens).mean(1)
        return self.output(functional.relu(self.hidden(mean)))


class LstmClassifier(nn.Module):
    def __init__(self, lstm_layer):
        super().__init__()
        self.embedding = nn.Embedding(128, 64)
        self.lstm = lstm_layer(64, 128, num_layers=1, batch_first=True)
        self.output = nn.Linear(128, 18)

    def forward(self, tokens):
        states, _ = self.lstm(self.embedding(tokens))
        return self.output(states[:, -1, :])


def autoencoder():
    channels = [1, 8, 16, 32, 64]
    layers = []
    for before, after in zip(channels, channels[1:]):
        layers += [nn.Conv2d(before, after, 3, padding=1), nn.ReLU()]
    channels.reverse()
    for before, after in zip(channels, channels[1:]):
        layers += [nn.ConvTranspose2d(before, after, 3, padding=1), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class EncoderLayer(nn.Module):
    def __init__(self, width, heads, hidden):
        super().__init__()
        self.heads = heads
        self.before_attention = nn.LayerNorm(width)
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.joined = nn.Linear(width, width)
        self.before_hidden = nn.LayerNorm(width)
        self.inner = nn.Linear(width, hidden)
        self.outer = nn.Linear(hidden, width)

    def forward(self, states):
        batch, length, width = states.shape
        normal = self.before_attention(states)
        split = (batch, length, self.heads, width // self.heads)
        query, key, value = (
            layer(normal).view(split).transpose(1, 2)
            for layer in (self.query, self.key, self.value)
        )
        attended = functional.scaled_dot_product_attention(query, key, value)
        attended = attended.transpose(1, 2).reshape(batch, length, width)
        states = states + self.joined(attended)
        inner = functional.gelu(self.inner(self.before_hidden(states)))
        return states + self.outer(inner)


class Transformer(nn.Module):
    def __init__(self, width=256, heads=4, hidden=1024, layers=4):
        super().__init__()
        self.tokens = nn.Embedding(10_000, width)
        self.positions = nn.Embedding(128, width)
        self.layers = nn.ModuleList(EncoderLayer(width, heads, hidden) for _ in range(layers))
        self.normal = nn.LayerNorm(width)
        self.output = nn.Linear(width, 2)

    def forward(self, tokens):
        batch, length = tokens.shape
        # Opacus needs the positions of every record, not one row for all.
        positions = torch.arange(length, device=tokens.device).expand(batch, -1).contiguous()
        states = self.tokens(tokens) + self.positions(positions)
        for layer in self.layers:
            states = layer(states)
        return self.output(self.normal(states).mean(1))


def convolution_block(before, after, pool=False):
    layers = [nn.Conv2d(before, after, 3, padding=1), nn.GroupNorm(32, after), nn.ReLU()]
    if pool:
        layers.append(nn.MaxPool2d(2))
    return nn.Sequential(*layers)


class Resnet9(nn.Module):
    def __init__(self):
        super().__init__()
        block = convolution_block
        self.start = nn.Sequential(block(3, 64), block(64, 128, pool=True))
        self.first_residual = nn.Sequential(block(128, 128), block(128, 128))
        self.middle = nn.Sequential(block(128, 256, pool=True), block(256, 512, pool=True))
        self.second_residual = nn.Sequential(block(512, 512), block(512, 512))
        self.pool = nn.MaxPool2d(4)
        self.output = nn.Linear(512, 10)

    def forward(self, images):
        features = self.start(images)
        features = features + self.first_residual(features)
        features = self.middle(features)
        features = features + self.second_residual(features)
        return self.output(self.pool(features).flatten(1))


# Channels of VGG-11's convolutions; None is pooling.
VGG11 = [64, None, 128, None, 256, 256, None, 512, 512, None, 512, 512, None]


def vgg11():
    layers, before = [], 3
    for channels in VGG11:
        if channels is None:
            layers.append(nn.MaxPool2d(2))
        else:
            layers += [nn.Conv2d(before, channels, 3, padding=1), nn.ReLU()]
            before = channels
    layers += [nn.Flatten(), nn.Linear(2048, 4096), nn.ReLU()]
    layers += [nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, 10)]
    return nn.Sequential(*layers)
