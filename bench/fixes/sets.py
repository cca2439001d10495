# SPDX-License-Identifier: Apache-2.0
# Which networks of unseen.py, in which precision, may be used to set factors (TUNING), and which only judge them
# (HELD_OUT). The split was made when the networks were written, before any of them was measured.
TUNING = (
    ("Mixer", "fp32"), ("Mixer", "fp16"), ("FrozenNet", "fp32"), ("FrozenNet", "int8"), ("CausalBlocks", "fp32"),
    ("Encoder", "fp32"),
    ("Encoder", "int8"), ("SmallUNet", "fp32"), ("Mobile", "fp32"), ("Mobile", "int8"), ("LstmTagger", "fp32"),
    ("Windows", "fp32"),
    ("Padded", "fp32"), ("Padded", "int8"), ("VitUnbind", "fp32"), ("VitUnbind", "int8"), ("Next", "fp32"),
    ("Cnn", "portable"), ("Permuted", "fp32"), ("Separable", "fp32"), ("SeparableWide", "fp32"),
    ("SeparableThin", "fp32"), ("GruShort", "fp32"), ("GruWide", "fp32"),
)

HELD_OUT = (
    ("ResMlp", "fp32"), ("ResMlp", "fp16"), ("Backbone", "fp32"), ("Backbone", "int8"), ("GqaDecoder", "fp32"),
    ("GptBlocks", "fp32"),
    ("GptBlocks", "int8"), ("Multihead", "fp32"), ("Resized", "fp32"), ("Dilated", "fp32"), ("Gru", "fp32"),
    ("Cross", "fp32"),
    ("Efficient", "fp32"), ("Efficient", "int8"), ("Speech", "fp32"), ("Shuffled", "fp32"), ("Bert", "fp32"),
    ("Bert", "int8"),
    ("NextWide", "fp32"), ("MobileSilu", "fp32"), ("PortableCnn", "portable"),
)

# Networks of models.py that need one fix each: made for it, so they set factors and judge nothing.
MADE = (
    ("BatchNorm", "fp32"), ("ReshapeChain", "fp32"), ("BorderLayout", "fp32"), ("Islands", "int8"),
    ("Undelegated", "fp32"),
    ("Unbind", "fp32"), ("Compute", "fp32"), ("Compute", "portable"),
)
