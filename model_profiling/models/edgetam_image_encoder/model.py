# SPDX-License-Identifier: Apache-2.0
# EdgeTAM's image encoder from the user's own checkout (EDGETAM_ROOT, or vendor/EdgeTAM here) and
# checkpoint (EDGETAM_CHECKPOINT, or checkpoints/edgetam.pt there; "seeded": random weights, which
# take as long). Nothing is fetched.
import hashlib
import os
import sys
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import torch
from etprof.errors import BadInput, EnvironmentProblem
from etprof.export.source import settle
from torch import nn

SIZE = 1024
SEEDED = "seeded"
CALIBRATED_WITH = 4  # images, of random weights
PREFIX = "image_encoder."
NOTICE = (
    "EdgeTAM is third-party software under the Apache License 2.0: keep its LICENSE and copyright "
    "notices when you pass the checkout, the checkpoint or a program made from them on"
)


class NoEncoding(nn.Module):
    """In the place of the position encodings, which the wrapper leaves behind: 88 MB of constants."""

    def forward(self, x):
        return x.new_zeros(1)


class Normalized(nn.Module):
    """Takes an image of 0...1; normalisation belongs to the program, not to its callers."""

    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder
        self.register_buffer("mean", torch.tensor([0.485, 0.456, 0.406]).reshape(1, 3, 1, 1))
        self.register_buffer("scale", 1 / torch.tensor([0.229, 0.224, 0.225]).reshape(1, 3, 1, 1))

    def forward(self, image):
        torch._check(image.shape[-1] == SIZE and image.shape[-2] == SIZE)
        features = self.encoder((image - self.mean) * self.scale)
        # A dict cannot leave a program; position encodings are constants and stay behind.
        return tuple(features["backbone_fpn"])


def checkout() -> Path:
    root = Path(os.environ.get("EDGETAM_ROOT") or Path(__file__).parent / "vendor" / "EdgeTAM")
    if not (root / "sam2" / "build_sam.py").is_file():
        raise EnvironmentProblem(
            f"no EdgeTAM checkout at {root}: clone github.com/facebookresearch/EdgeTAM yourself and "
            "set EDGETAM_ROOT to it"
        )
    if not (root / "LICENSE").is_file():
        raise EnvironmentProblem(f"{root} has no LICENSE; use a complete checkout")
    return root


def checkpoint(root: Path) -> Path | None:
    """The file with the weights; None when random ones are asked for."""
    named = os.environ.get("EDGETAM_CHECKPOINT")
    if named == SEEDED:
        print("edgetam_image_encoder: random weights, seeded: times are real, pictures are not",
              file=sys.stderr)
        return None
    path = Path(named or root / "checkpoints" / "edgetam.pt")
    if not path.is_file():
        raise EnvironmentProblem(
            f"no checkpoint at {path}; set EDGETAM_CHECKPOINT to the file, or to "
            f"'{SEEDED}' for random weights")
    wanted = os.environ.get("EDGETAM_CHECKPOINT_SHA256", "").lower()
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if wanted and wanted != found:
        raise BadInput(f"{path}: sha256 {found}, expected {wanted}; fetch the checkpoint again")
    print(f"edgetam_image_encoder: checkpoint sha256 {found}"
          + ("" if wanted else " (not compared: set EDGETAM_CHECKPOINT_SHA256)"), file=sys.stderr)
    return path


def load_weights(encoder, path: Path):
    """Every weight of the encoder comes from the file; leaving any at random is an error."""
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        raise BadInput(f"{path}: not a checkpoint that torch reads safely: {error}") from error
    state = state.get("model", state) if isinstance(state, dict) else {}
    own = {k[len(PREFIX):]: v for k, v in state.items() if k.startswith(PREFIX)}
    if not own:
        raise BadInput(f"{path}: holds no weight named {PREFIX}*; is it EdgeTAM's checkpoint?")
    missing = sorted(set(encoder.state_dict()) - set(own))
    unknown = sorted(set(own) - set(encoder.state_dict()))
    if missing or unknown:
        raise BadInput(
            f"{path}: {len(missing)} weights of the encoder are missing, {len(unknown)} unknown "
            f"(first: {(missing + unknown)[0]}); checkout and checkpoint do not belong together"
        )
    encoder.load_state_dict(own, strict=True)


@contextmanager
def nothing_fetched():
    """The checkout asks timm for pretrained weights, which the checkpoint would replace anyway."""
    import timm.models

    create = timm.models.create_model

    def without_weights(*args, **kwargs):
        return create(*args, **{**kwargs, "pretrained": False})

    with mock.patch.dict(os.environ, HF_HUB_OFFLINE="1"), \
            mock.patch.object(timm.models, "create_model", without_weights):
        yield


def build(root: Path):
    from hydra import compose, initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra
    from hydra.utils import instantiate

    sys.path.insert(0, str(root))
    try:
        GlobalHydra.instance().clear()
        with initialize_config_dir(str((root / "sam2" / "configs").absolute()), version_base=None):
            config = compose("edgetam")
            with nothing_fetched():
                return instantiate(config.model.image_encoder, _recursive_=True)
    finally:
        sys.path.remove(str(root))


class EdgeTamImageEncoder:
    def get_eager_model(self):
        root = checkout()
        weights = checkpoint(root)
        print(f"edgetam_image_encoder: {NOTICE}", file=sys.stderr)
        encoder = build(root)
        if weights:
            load_weights(encoder, weights)
        if isinstance(getattr(encoder, "neck", None), nn.Module):
            encoder.neck.position_encoding = NoEncoding()
        model = Normalized(encoder).eval()
        # Images are 0...1: batch norms settled on normal numbers would see others afterwards.
        return model if weights else settle(model, (1, 3, SIZE, SIZE), batch=1, draw=torch.rand)

    def get_example_inputs(self):
        return (torch.rand(1, 3, SIZE, SIZE),)

    def get_calibration_inputs(self):
        """Seeded noise for random weights. With a checkpoint noise is no picture: then --calibrate
        is asked for."""
        if os.environ.get("EDGETAM_CHECKPOINT") != SEEDED:
            return None
        seeds = (torch.Generator().manual_seed(i) for i in range(CALIBRATED_WITH))
        return [(torch.rand(1, 3, SIZE, SIZE, generator=seed),) for seed in seeds]
