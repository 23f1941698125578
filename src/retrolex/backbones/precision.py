"""Where bfloat16 is computed in hardware, and so pays."""

from __future__ import annotations

import torch


def device() -> torch.device:
    """The GPU when there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def bf16_pays() -> bool:
    """Whether this machine multiplies bfloat16 matrices in hardware (on a CPU: AVX-512 BF16 or AMX)."""
    if torch.cuda.is_available():
        return torch.cuda.is_bf16_supported()
    checks = (getattr(torch.cpu, name, None) for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported"))
    return any(check() for check in checks if check is not None)
