# SPDX-License-Identifier: Apache-2.0
# From what the user typed to a model with example inputs. One grammar:
#   NAME | torchvision:NAME | timm:NAME | hf:CONFIG | executorch:NAME | llm:NAME | FILE.py:Class | FOLDER
from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import re
import sys
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable
from urllib.error import URLError

from .. import registry
from ..errors import BadInput, EnvironmentProblem, EtprofError, MissingPackage, UsageError, suggest
from ..packages import EXTRAS, pinned_for

# Of ExecuTorch 1.5.1, which an export may have to fetch first. A model folder of the same name comes before it.
EXAMPLES = frozenset((
    "add add_mul conv1d deep_autoencoder deit_tiny dl3 ds_cnn edsr efficient_sam emformer_join emformer_predict "
    "emformer_transcribe ic3 ic4 linear llama llama2 llama3_2_vision_encoder llava lstm mobilebert mobilenet_v1_025 "
    "mul mv2 mv2_untrained mv3 phi_4_mini qwen2_5_1_5b qwen3 resnet18 resnet50 resnet8 sdpa smollm2 smolvlm softmax "
    "vit w2l whisper yolo26").split())
GRAMMAR = "NAME, torchvision:NAME, timm:NAME, hf:CONFIG, executorch:NAME, llm:NAME, FILE.py:Class or FOLDER"
IMAGE = (1, 3, 224, 224)


@dataclass
class Source:
    """A model that was found but not built yet."""

    spec: str
    name: str  # of the files
    kind: str
    build: Callable[[], Any]  # returns an object with the EagerModelBase interface
    info: dict = field(default_factory=dict)


@dataclass
class Model:
    """A model in eager mode with everything that the exporter wants to know of it."""

    name: str
    module: Any
    args: tuple
    kwargs: dict
    dynamic_shapes: Any = None
    methods: dict = field(default_factory=dict)  # name -> (args, kwargs)
    calibration: list | None = None  # of (args, kwargs)
    constants: dict = field(default_factory=dict)  # methods that return a constant
    steps: list = field(default_factory=list)  # args of calls that follow each other on one state


def file_name(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "_", text).strip("_") or "model"


def missing(what: str, modules) -> MissingPackage:
    many = len(modules) > 1
    return MissingPackage(
        f"{what} needs the package{'s' * many} {', '.join(modules)}, which {'are' if many else 'is'} "
        f"not installed: {sys.executable} -m pip install --no-deps {' '.join(pinned_for(modules))}",
        modules)


def check_needs(source: Source):
    """What the source says that it needs, all of it at once and before anything is built."""
    absent = [m for m in source.info.get("needs", []) if not found(m)]
    if absent:
        raise missing(f"'{source.spec}'", absent)


def found(module: str) -> bool:
    if sys.modules.get(module) is not None:
        return True
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def need(package: str, what: str):
    """Imports an optional package, or says in one line how to get it."""
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        if root_module(error) in (package, *EXTRAS):
            raise missing(what, [root_module(error)]) from error
        raise


def root_module(error: ModuleNotFoundError) -> str:
    return (error.name or "").split(".")[0]


class Simple:
    """The EagerModelBase interface around a builder and the shape of its one image input."""

    def __init__(self, build, shape=IMAGE):
        self._build, self._shape = build, shape

    def get_eager_model(self):
        from .redraw import redraw

        model = self._build()
        redraw(model)
        return settle(model, self._shape)

    def get_example_inputs(self):
        import torch

        return (torch.randn(*self._shape),)


def batch_norms(model) -> list:
    from torch.nn.modules.batchnorm import _BatchNorm

    return [m for m in model.modules() if isinstance(m, _BatchNorm)]


def settle(model, shape, batch=4, draw=None):
    """Gives the batch norms of a random network the statistics of its own activations.

    Freshly initialised, deep networks shrink their activations until float16 and int8 see nothing
    but zeros (MobileNetV3: outputs of 1e-9), and no comparison means anything any more. DRAW makes
    inputs like those that the model will get; normal ones without it.
    """
    import torch

    norms = batch_norms(model)
    if not norms:
        return model
    momenta = [m.momentum for m in norms]
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # the plain average
    model.train()
    with torch.no_grad():
        model((draw or torch.randn)(batch, *shape[1:]))
    for norm, momentum in zip(norms, momenta):
        norm.momentum = momentum
    return model.eval()


# --- the kinds -------------------------------------------------------------------------------


def from_torchvision(name: str):
    torchvision = need("torchvision", "torchvision:NAME")
    known = sorted(torchvision.models.list_models())
    if name not in known:
        raise UsageError(f"torchvision has no model '{name}'{suggest(name, known)}")
    size = 299 if name.startswith("inception") else 224
    shape = (1, 3, 8, 112, 112) if name in video_models(torchvision) else (1, 3, size, size)
    options = {"weights": None}
    if name in ("googlenet", "inception_v3"):
        options |= {"init_weights": True, "aux_logits": False}
    if name.startswith(("deeplab", "fcn", "lraspp")):
        options |= {"weights_backbone": None}

    def build():
        model = torchvision.models.get_model(name, **options)
        return FirstOutput(model) if name.startswith(("deeplab", "fcn", "lraspp")) else model

    return Simple(build, shape)


def video_models(torchvision):
    return torchvision.models.list_models(module=torchvision.models.video)


def FirstOutput(model):
    """Segmentation models return a dict of tensors; programs return tensors."""
    from torch import nn

    class _FirstOutput(nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, image):
            return self.model(image)["out"]

    return _FirstOutput()


def from_timm(name: str):
    timm = need("timm", "timm:NAME")
    if name not in timm.list_models():
        raise UsageError(f"timm has no model '{name}'{suggest(name, timm.list_models())}")
    model = timm.create_model(name, pretrained=False)
    size = getattr(model, "default_cfg", {}).get("input_size", IMAGE[1:])
    return Simple(lambda: model, (1, *size))


def from_hf(spec: str):
    """A transformers config (its model type, or a JSON file), random weights, nothing fetched."""
    transformers = need("transformers", "hf:CONFIG")
    import torch

    path = Path(spec)
    try:
        if path.suffix == ".json":
            import json

            values = json.loads(path.read_text(encoding="utf-8"))
            config = transformers.AutoConfig.for_model(values.pop("model_type"), **values)
        else:
            config = transformers.AutoConfig.for_model(spec)
    except (ValueError, KeyError, OSError) as error:
        raise UsageError(f"hf:{spec} is not a model type of transformers and no config file: {error}") from error
    config.use_cache = False

    class HF:
        def get_eager_model(self):
            from .redraw import redraw

            model = transformers.AutoModel.from_config(config)
            redraw(model)
            return TupleOutput(model)

        def get_example_inputs(self):
            if hasattr(config, "image_size"):
                size = config.image_size
                return (torch.randn(1, getattr(config, "num_channels", 3), size, size),)
            return (torch.randint(0, config.vocab_size, (1, 32)),)

    return HF()


def TupleOutput(model):
    from torch import nn

    class _TupleOutput(nn.Module):
        """Only tensors come out; caches and attention records stay inside."""

        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, x):
            return self.model(x)[0]

    return _TupleOutput()


def from_executorch(name: str):
    table = importlib.import_module("executorch.examples.models").MODEL_NAME_TO_MODEL
    if name not in table:
        raise UsageError(f"ExecuTorch has no example model '{name}'{suggest(name, sorted(table))}")
    module_name, class_name = table[name]
    try:
        module = importlib.import_module(f"executorch.examples.models.{module_name}")
    except ModuleNotFoundError as error:
        if error.name and not error.name.startswith("executorch"):
            raise missing(f"executorch:{name}", [root_module(error)]) from error
        raise
    found = getattr(module, class_name)()
    build = found.get_eager_model

    def get_eager_model():
        import torch

        model, inputs = build(), found.get_example_inputs()
        only = inputs[0] if len(inputs) == 1 else None
        if never_trained(model) and isinstance(only, torch.Tensor) and only.is_floating_point():
            settle(model, only.shape)
        return model

    found.get_eager_model = get_eager_model
    return found


def never_trained(model) -> bool:
    """Its batch norms have seen nothing yet."""
    norms = batch_norms(model)
    return bool(norms) and all(m.running_mean is not None and not m.running_mean.any() and (m.running_var == 1).all()
                               for m in norms)


def from_file(path: Path, class_name: str):
    if not path.is_file():
        raise UsageError(f"{path}: no such file")
    spec = importlib.util.spec_from_file_location("etprof_model_" + file_name(path.stem), path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.insert(0, str(path.parent))  # the file may import its neighbours, as a script could
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent))
    if not hasattr(module, class_name):
        classes = [n for n, c in vars(module).items() if inspect.isclass(c)]
        raise UsageError(f"{path} has no class '{class_name}'{suggest(class_name, classes)}")
    return getattr(module, class_name)()


# --- resolution ------------------------------------------------------------------------------


def language_model(spec: str, options) -> Source:
    """llm:NAME; its name tells the choices besides the precision."""
    from ..llm import program

    shape, name = program.describe(spec.removeprefix("llm:"))
    name = file_name(name)
    if options is not None:
        options.attention = options.attention or "plain"
        name += "_fused" * (options.attention == "fused")
    info = {"weights": str(options.weights) if options and options.weights else "random"}
    return Source(spec, name, "llm", lambda: program.LanguageModel(shape, options), info)


def resolve(spec: str, options=None) -> Source:
    """Finds the model without building it. Unknown names are usage errors with a suggestion."""
    kinds = {
        "torchvision": from_torchvision,
        "timm": from_timm,
        "hf": from_hf,
        "executorch": from_executorch,
    }
    head, colon, tail = spec.partition(":")
    if head == "llm" and tail:
        return language_model(spec, options)
    if colon and head in (*kinds, "llm"):
        if not tail:
            raise UsageError(f"'{spec}' names no model after '{head}:'")
        name = file_name(Path(tail).stem if head == "hf" and tail.endswith(".json") else tail)
        needs = {"torchvision": "torchvision", "timm": "timm", "hf": "transformers"}
        info = {"needs": [needs[head]]} if head in needs else {}
        return Source(spec, name, head, lambda: kinds[head](tail), info)
    if colon and head.endswith(".py"):
        path = Path(head)
        # Both names: many files call their class Model.
        name = f"{file_name(path.stem)}_{file_name(tail)}"
        return Source(spec, name, "file", lambda: from_file(path, tail))
    if spec.endswith(".py"):
        raise UsageError(f"'{spec}' names no class; write {spec}:ClassName")
    if os.sep in spec or spec.startswith("."):
        return folder_source(spec, Path(spec))
    known = registry.folders()
    if spec in known:
        return folder_source(spec, known[spec].path)
    if spec in EXAMPLES:
        return resolve(f"executorch:{spec}", options)
    raise UsageError(
        f"no model '{spec}'{suggest(spec, [*known, *EXAMPLES])}; `etprof export --list` lists them, "
        f"sources are {GRAMMAR}"
    )


def folder_source(spec: str, path: Path) -> Source:
    if not path.is_dir():
        raise UsageError(f"{path}: no such folder")
    folder = registry.read_folder(path.resolve())
    checkout = registry.missing_checkout(folder)
    if checkout:  # said before anything is installed
        raise EnvironmentProblem(f"'{spec}' ({folder.info.get('description', 'no description')}): the checkout is not "
                                 f"there; set {checkout} to it")
    return Source(
        spec, file_name(folder.name), "folder",
        lambda: registry.load_folder(folder.path).cls(), folder.info,
    )


def user_frame(error: BaseException) -> str:
    """FILE:LINE of the innermost frame outside this package and the installed libraries; where there
    is none, as with models that are installed themselves, the innermost outside of torch."""
    own = str(Path(__file__).resolve().parents[1])
    installed = ""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename.startswith((own, "<")):
            continue
        if "site-packages" not in frame.filename:
            return f"{frame.filename}:{frame.lineno}"
        if not installed and "site-packages/torch/" not in frame.filename:
            installed = f"{frame.filename}:{frame.lineno}"
    return installed


def cause_of(error: BaseException) -> BaseException:
    """Hydra wraps what a constructor or an import raised, several times over; that is told instead."""

    def wraps(e):
        return type(e).__module__.startswith("hydra") or (
            type(e) is ImportError and str(e).startswith("Error loading '"))

    while wraps(error) and (error.__cause__ or error.__context__):
        error = error.__cause__ or error.__context__
    return error


def first_line(error: BaseException) -> str:
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__


def load(source: Source) -> Model:
    """Builds the model and its example inputs; whatever fails in there is the model's fault."""
    from .torchvision_ops import declare_operators

    check_needs(source)
    declare_operators()  # whatever the source imports may import torchvision
    try:
        base = source.build()
        check_contract(source, base)
        module = base.get_eager_model()
        args = base.get_example_inputs()
        kwargs = dict(optional(base, "get_example_kwarg_inputs") or {})
        model = Model(
            source.name, module, args, kwargs,
            dynamic_shapes=optional(base, "get_dynamic_shapes"),
            methods=dict(optional(base, "get_method_inputs") or {}),
            calibration=optional(base, "get_calibration_inputs"),
            constants=dict(optional(base, "get_constant_methods") or {}),
            steps=list(optional(base, "get_steps") or []),
        )
    except EtprofError:
        raise
    except Exception as error:
        raise not_built(source, error, cause_of(error)) from error
    check_shape_of_answers(source, model)
    model.module = model.module.eval()
    return model


def check_contract(source: Source, base: Any) -> None:
    """A module alone does not say what goes into it."""
    wanted = ("get_eager_model", "get_example_inputs")
    lacks = [name for name in wanted if not callable(getattr(base, name, None))]
    if not lacks:
        return
    import torch

    kind = "a torch.nn.Module" if isinstance(base, torch.nn.Module) else "a class"
    raise BadInput(
        f"'{source.spec}' is {kind} without {' and '.join(lacks)}: give it "
        "get_eager_model(self), which returns the module (of a module: itself), and "
        "get_example_inputs(self), which returns a tuple of tensors")


def not_built(source: Source, error: Exception, cause: BaseException) -> EtprofError:
    if isinstance(cause, EtprofError):
        return cause
    if isinstance(cause, URLError):
        import torch

        return EnvironmentProblem(
            f"the model '{source.spec}' fetches its weights and cannot: {cause.reason}; try again with a network, or "
            f"put the file into {torch.hub.get_dir()}/checkpoints")
    if isinstance(cause, ModuleNotFoundError) and root_module(cause) in EXTRAS:
        return missing(f"'{source.spec}'", [root_module(cause)])
    where = user_frame(cause) or user_frame(error)
    return BadInput(
        f"the model '{source.spec}' cannot be built: {type(cause).__name__}: "
        f"{first_line(cause)}" + (f" ({where})" if where else ""))


def optional(base, method):
    return getattr(base, method)() if hasattr(base, method) else None


def check_shape_of_answers(source: Source, model: Model):
    from torch import nn

    if not isinstance(model.module, nn.Module):
        raise BadInput(
            f"'{source.spec}': get_eager_model() returned {type(model.module).__name__}, "
            "expected a torch.nn.Module"
        )
    if isinstance(model.args, list):
        model.args = tuple(model.args)
    if not isinstance(model.args, tuple):
        raise BadInput(
            f"'{source.spec}': get_example_inputs() returned {type(model.args).__name__}, "
            "expected a tuple of inputs"
        )
