"""What of a model's name is public knowledge: its family, size, kind and format. What is left names somebody's own model.

Rules look at the former ("Qwen2.5-VL", "W8A8"), so that they find the same where only the latter is masked.

Contract: standard library only, in the grammar of Python 3.6 (see `pseudonyms`).
"""

from __future__ import annotations

import re
from collections.abc import Callable

_FAMILY = re.compile(
    r"(?i)(?:qwen|qwq|qvq|tongyi|deepseek|llama|codellama|tinyllama|mistral|ministral|mixtral|pixtral|magistral|devstral|codestral|voxtral|glm|chatglm|codegeex|cogvlm|baichuan|internlm|"
    r"internvl|interns|phi|gemma|paligemma|minicpm|minimax|kimi|moonlight|hunyuan|ernie|paddleocr|pangu|openpangu|step|gpt|opt|bloom|falcon|granite|nemotron|olmo|smollm|smolvlm|"
    r"starcoder|telechat|xverse|skywork|longcat|mimo|bge|gte|whisper|llava|molmo|aquila|exaone|jamba|mamba|dbrx|mpt|gritlm|nomic)(?:v?\d{1,3})?(?:vl|moe|next|coder|omni|ocr|l|n)?"
)
"""The first or the second word of a public model's name, with its version where that is glued to it. Those that are also names of people are not here."""
_WORD = re.compile(
    r"(?i)(?:meta|open|[vrmko]|[vrmko]?\d{1,4}|vl|vlm|moe|mla|dsa|oss|instruct|chat|base|it|pt|thinking|reasoner|coder|code|math|omni|audio|asr|tts|ocr|image|vision|video|embedding|embeddings|reranker|rerank|reward|prm|next|exp|"
    r"terminus|speciale|distill|flash|lite|linear|pro|air|turbo|max|mini|nano|small|medium|large|tiny|plus|preview|latest|scout|maverick|long|mtp|eagle\d?|dflash|speculator|draft|guard|hf|zh|en|text|sft|dpo|rl|zero|text|only|original|official)"
)
_FORMAT = re.compile(
    r"(?i)(?:\d{1,4}(?:p\d)?[bm]|\d{1,3}x\d{1,3}b|[ae]\d{1,4}b|w\d{1,2}a\d{1,2}(?:c\d{1,2}|s|sc)?|[wkvc]\d{1,2}|tp\d{1,3}|ep\d{1,3}|awq|gptq|int\d{1,2}|uint\d|fp\d{1,2}|bf16|mx(?:fp)?\d{0,2}|nvfp4|hif8|hifloat8|e\dm\d|\d{1,2}bit|gguf|ggml|q\d|quantized|quant|"
    r"dynamic|static|quarot|flatquant|compressed|tensors|bnb|autoround|sparse|rot)"
)
_OWNER = re.compile(
    r"(?i)(?:vllm-ascend|eco-tech|qwen|deepseek-ai|meta-llama|mistralai|thudm|zai-org|zhipuai|moonshotai|openbmb|opengvlab|internlm|baichuan-inc|google|microsoft|baai|tencent|tencent-hunyuan|baidu|paddlepaddle|minimaxai|minimax|"
    r"llm-research|unsloth|redhatai|neuralmagic|modelscope|ai-modelscope|nvidia|openai|openai-mirror|tiiuae|facebook|stepfun-ai|xiaomimimo|inclusionai|meituan-longcat|bytedance-seed|ascendtribe|freedomintelligence|01-ai|ibm-granite|allenai|huggingfacetb|nousresearch|lmsys|jackfram|amd|intel)"
)
_SEPARATORS = re.compile(r"([-_.]+)")


def is_owner(name: str) -> bool:
    """Whether it is who publishes models, as the first part of `Qwen/Qwen3-8B`."""
    return _OWNER.fullmatch(name) is not None


def without_own(name: str, stand_in: Callable[[str], str]) -> str:
    """The name with every run of words that is not public as `stand_in` of it; the same name where all of it is."""
    parts = _SEPARATORS.split(name)
    words = parts[::2]
    public = any(_FAMILY.fullmatch(word) for word in words[:2])
    kept = [not word or bool(_FORMAT.fullmatch(word) or public and (_FAMILY.fullmatch(word) or _WORD.fullmatch(word))) for word in words]
    if not public and not any(good and words[index] for index, good in enumerate(kept)):
        return stand_in(name)
    out, run = "", ""
    for index, word in enumerate(words):
        separator = parts[2 * index + 1] if index + 1 < len(words) else ""
        if not kept[index]:
            run += word + (separator if index + 1 < len(words) and not kept[index + 1] else "")
            if index + 1 < len(words) and not kept[index + 1]:
                continue
            word, run = stand_in(run), ""
        out += word + separator
    return out


__all__ = ["is_owner", "without_own"]
