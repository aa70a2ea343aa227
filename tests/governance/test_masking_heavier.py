"""An optional heavier model from a local folder: what it sees, where, what that counts for, and what is refused."""

from __future__ import annotations

import shutil
import sys
import types
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance.errors import MaskingError
from governance.masking.detection import Detector, TextKind
from governance.masking.model_folder import LABELS_FILE, Kind, ModelFolder
from governance.masking.model_labels import types_of
from governance.masking.process_detector import ProcessDetector
from governance.masking.recognisers import heavier
from governance.masking.recognisers.heavier import HeavierRecognizer
from governance.masking.recognisers.heavier_tokens import _limit
from governance.masking.rules_digest import detectors_digest
from governance.masking.settling import settle
from governance.masking.spans import Hit
from governance.masking.token_spans import Token, spans_of
from pipelines.doctor import Finding, _pii_model
from pipelines.ground import Ground
from pipelines.settings import Settings
from tests.governance.heavier_models import LABELS, change_config, make


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def reader(folder: Path) -> HeavierRecognizer:
    return HeavierRecognizer(ModelFolder.read(folder))


@pytest.fixture(scope="module")
def detector(folder: Path) -> Detector:
    return Detector(model=folder)


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder, tmp_path / "copy"))


def seen(reader: HeavierRecognizer, text: str) -> list[tuple[str, str, int]]:
    """Type, characters and place of what it sees."""
    return [(one.entity_type, text[one.start : one.end], one.start) for one in reader.analyze(text, [])]


# What it sees, and where


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("the order of Zorblax Quimby, x", [("MODEL_PERSON", "Zorblax Quimby", 13)]),
        ("vexin quimby vexin", [("MODEL_PERSON", "vexin quimby", 0), ("MODEL_PERSON", "vexin", 13)]),
        ("vexin, quimby", [("MODEL_PERSON", "vexin", 0), ("MODEL_PERSON", "quimby", 7)]),
        ("seven \n quay, x", [("MODEL_LOCATION", "seven \n quay", 0)]),
        ("zorblax acmo", [("MODEL_PERSON", "zorblax", 0), ("MODEL_ORGANIZATION", "acmo", 8)]),
        ("of quimbyworth", [("MODEL_PERSON", "quimbyworth", 3)]),  # a word is personal as a whole
        ("faint", [("MODEL_PERSON", "faint", 0)]),  # B-PER and I-PER together say more than O
        ("마루는 the", [("MODEL_PERSON", "마루", 0)]),  # a particle stays outside
        ("\U0001f600\U0001f468\u200d\U0001f469 zorblax \U0001f600", [("MODEL_PERSON", "zorblax", 5)]),
        ("for Jose\u0301, Jos\u00e9", [("MODEL_PERSON", "Jose\u0301", 4), ("MODEL_PERSON", "Jos\u00e9", 11)]),
        ("\ud83d zorblax \udc00", [("MODEL_PERSON", "zorblax", 2)]),
        ("  \u00a0zorblax\u3000 ", [("MODEL_PERSON", "zorblax", 3)]),
        ("", []),
        (" \U0001f600 ", []),
    ],
)
def test_spans_stand_where_the_text_has_them(
    reader: HeavierRecognizer, text: str, found: list[tuple[str, str, int]]
) -> None:
    assert seen(reader, text) == found


def test_a_score_is_the_mean_of_words_and_of_the_labels_of_one_type_together(reader: HeavierRecognizer) -> None:
    [sure], [half] = reader.analyze("zorblax quimby", []), reader.analyze("faint", [])
    assert sure.score > 0.99
    assert 0.5 < half.score < 0.6
    [both] = reader.analyze("zorblax quimbyworth", [])
    [second] = reader.analyze("quimbyworth", [])
    assert both.score == pytest.approx((1 + second.score) / 2, abs=0.002)


def test_a_long_text_is_read_in_windows_and_each_token_judged_once_with_what_stands_around_it(tmp_path: Path) -> None:
    """The model sees nothing in the first two tokens that it reads, so only what windows share can find all."""
    long = HeavierRecognizer(ModelFolder.read(make(tmp_path, limit=20, blind=2)))
    names = ["zorblax x"] * 60
    text = "the order of " + " \U0001f600 ".join(names)
    found = seen(long, text)
    wanted = [place for place in range(len(text)) if text.startswith("zorblax", place)]
    assert [(part, place) for _, part, place in found] == [("zorblax", place) for place in wanted]
    assert seen(long, "zorblax the zorblax") == [("MODEL_PERSON", "zorblax", 12)]  # the blindness is real


def test_a_model_that_counts_places_from_behind_its_padding_reads_fewer_tokens() -> None:
    from torch.nn import Embedding, ModuleDict

    endless = types.SimpleNamespace(model_max_length=10**30)
    for padding, limit in ((1, 32), (None, 34)):
        model = ModuleDict({"position_embeddings": Embedding(34, 2, padding_idx=padding)})
        model.config = types.SimpleNamespace(max_position_embeddings=34)
        assert _limit(endless, model) == limit


PARTS = st.sampled_from(["zorblax", "vexin", "x", "the", "quay", "\U0001f600", "e\u0301", "\ud800", "마루", ",", "\n"])


@settings(max_examples=8, deadline=None)
@given(st.lists(st.lists(PARTS | st.text(max_size=3), max_size=30).map(" ".join), max_size=20))
def test_texts_read_together_are_seen_as_each_alone(reader: HeavierRecognizer, texts: list[str]) -> None:
    reader.read([])
    alone = [[(one.entity_type, one.start, one.end) for one in reader.analyze(text, [])] for text in texts]
    reader.read(texts)
    assert [[(one.entity_type, one.start, one.end) for one in reader.analyze(text, [])] for text in texts] == alone
    for text, found in zip(texts, alone, strict=True):
        assert all(0 <= start < end <= len(text) for _, start, end in found)
        assert [text[start:end].strip() for _, start, end in found] == [text[start:end] for _, start, end in found]


def test_texts_of_a_part_are_read_in_batches_and_not_again(
    reader: HeavierRecognizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    model: Any = reader._tagger
    ask = model._judged

    def noted(windows: list[Any]) -> list[list[Token]]:
        sizes.append(len(windows))
        judged: list[list[Token]] = ask(windows)
        return judged

    monkeypatch.setattr(model, "_judged", noted)
    texts = [f"{'x ' * place}zorblax" for place in range(20)]
    reader.read([*texts, texts[0]])
    assert sizes == [16, 4]
    assert all(len(reader.analyze(text, [])) == 1 for text in texts)
    assert sizes == [16, 4]


def test_a_token_of_a_part_of_a_character_is_that_character_s() -> None:
    tokens = [Token(0, 1, (0.1, 0.9), "PER", False), Token(0, 1, (0.3, 0.7), "PER", False)]
    assert spans_of("마", tokens, ["", "PERSON"]) == [Hit(0, 1, "PERSON", 0.8)]


# What labels mean


@pytest.mark.parametrize(
    ("label", "entity"),
    [
        ("B-PER", "PERSON"), ("I-PERSON", "PERSON"), ("PER-B", "PERSON"), ("U-PER", "PERSON"), ("S-PS", "PERSON"),
        ("B_GIVENNAME", "PERSON"), ("L-LOC", "GPE"), ("GPE", "GPE"), ("ORG", "ORGANIZATION"), ("I-STREET", "LOCATION"),
        ("EMAIL", "EMAIL_ADDRESS"), ("E-MAIL", "EMAIL_ADDRESS"), ("PHONE_NUM", "PHONE_NUMBER"), ("B-MISC", ""),
        ("DATE_OF_BIRTH", "DATE_OF_BIRTH"), ("date of birth", "DATE_OF_BIRTH"), ("O", ""), ("SSN", "US_SSN"),
    ],
)  # fmt: skip
def test_usual_labels_are_known(label: str, entity: str) -> None:
    assert list(types_of([label], {}, "here").values()) == [entity]


def test_the_owner_s_words_win_and_what_nobody_explains_is_named_once() -> None:
    assert types_of(["B-BADGE", "I-BADGE", "B-ORG"], {"badge": "PERSON", "ORG": ""}, "f") == {
        "BADGE": "PERSON",
        "ORG": "",
    }
    with pytest.raises(MaskingError, match="f: say what the labels LABEL_1, BADGE mean"):
        types_of(["O", "LABEL_1", "B-BADGE", "I-BADGE"], {}, "f")
    with pytest.raises(MaskingError, match="no finding has the type PERSONN"):
        types_of(["O"], {"PER": "PERSONN"}, "f")


def test_labels_beside_the_model_count(copy: Path) -> None:
    change_config(copy, id2label={place: label.replace("PER", "KIN") for place, label in enumerate(LABELS)})
    with pytest.raises(MaskingError, match=rf"{LABELS_FILE}: say what the labels KIN mean"):
        ModelFolder.read(copy)
    (copy / LABELS_FILE).write_text('[labels]\nKIN = "PERSON"\nORG = ""\n')
    made = HeavierRecognizer(ModelFolder.read(copy))
    assert seen(made, "zorblax acmo") == [("MODEL_PERSON", "zorblax", 0)]
    for wrong in ("labels = 3", "[labels]\nKIN = 3", "[label]\n", "["):
        (copy / LABELS_FILE).write_text(wrong)
        with pytest.raises(MaskingError, match=LABELS_FILE):
            ModelFolder.read(copy)


# What is refused


def _remove(name: str) -> Callable[[Path], None]:
    return lambda path: (path / name).unlink()


def _write(name: str, content: str) -> Callable[[Path], object]:
    return lambda path: (path / name).write_text(content)


def _without_head(path: Path) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(path / "model.safetensors")
    save_file({name: held for name, held in weights.items() if "classifier" not in name}, path / "model.safetensors",
              metadata={"format": "pt"})  # fmt: skip


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (shutil.rmtree, "there is no folder .*copy"),
        (_remove("config.json"), "neither a config.json nor a gliner_config.json"),
        (_write("config.json", "{"), "config.json cannot be read"),
        (_write("config.json", "[]"), "config.json cannot be read"),
        (partial(change_config, architectures=["BertModel"]), "the architecture is BertModel, and none for token"),
        (partial(change_config, architectures=None), "the architecture is none"),
        (partial(change_config, id2label={"0": "O", "2": "B-PER"}), "id2label does not name every label"),
        (_remove("model.safetensors"), "transformers cannot load the model in .*copy"),
        (_write("model.safetensors", "no weights"), "transformers cannot load the model in .*copy"),
        (_without_head, "the weights lack classifier"),
        (_write("gliner_config.json", "{}"), "holds a GLiNER model, and the package gliner is not installed"),
    ],
)
def test_a_folder_that_cannot_be_used_is_refused(
    copy: Path, spoil: Callable[[Path], object], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("governance.masking.recognisers.heavier_gliner.find_spec", lambda name: None)
    spoil(copy)
    with pytest.raises(MaskingError, match=message):
        heavier.build(copy)


def test_a_tokenizer_without_places_is_refused(copy: Path) -> None:
    (copy / "tokenizer.json").unlink()
    (copy / "tokenizer_config.json").write_text('{"tokenizer_class": "CanineTokenizer"}')
    with pytest.raises(MaskingError, match="CanineTokenizer is no fast tokenizer"):
        heavier.build(copy)


def test_a_detector_says_why_it_has_no_model(tmp_path: Path) -> None:
    with pytest.raises(MaskingError, match="there is no folder"):
        Detector(model=tmp_path / "none").find([("zorblax", TextKind.TEXT)])


# What its findings count for


def model(text: str, part: str, entity: str, score: float = 0.9) -> Hit:
    start = text.index(part)
    return Hit(start, start + len(part), f"MODEL_{entity}", score)


def settled(text: str, *hits: Hit, guesses: bool = True, strict: bool = False) -> list[tuple[str, str]]:
    found = settle(text, hits, guesses=guesses, strict=strict)
    return [(hit.entity_type, text[hit.start : hit.end]) for hit in found]


def test_in_words_a_firm_finding_counts_by_itself_and_a_weak_one_is_a_guess() -> None:
    text = "we told the mumbling quillan and the order"
    assert settled(text, model(text, "quillan", "PERSON")) == [("PERSON", "quillan")]
    assert settled(text, model(text, "order", "PERSON", 0.79)) == []
    assert settled(text, model(text, "quillan", "EMAIL_ADDRESS", 0.79)) == []
    weak = "we told Zorblax Quimby"
    assert settled(weak, model(weak, "Zorblax Quimby", "PERSON", 0.5)) == [("PERSON", "Zorblax Quimby")]


def test_in_data_only_its_names_count_as_guesses_and_in_one_word_nothing() -> None:
    text = "Amelia Quimby lives at quay seven"
    hits = [
        model(text, "Amelia Quimby", "PERSON"),
        model(text, "quay seven", "LOCATION"),
        model(text, "lives", "PERSON"),
    ]
    assert settled(text, *hits, strict=True) == [("PERSON", "Amelia Quimby")]
    assert settled(text, *hits, guesses=False) == []
    assert len(settled(text, *hits)) == 3


def test_what_patterns_found_and_ids_stay_whole() -> None:
    text = "reach (a@b.example, 12 Quay) 6f1d0b1e-9c1d-4f53-9d5c-3a53e5b8a0c1 now"
    mail = Hit(text.index("a@b"), text.index(", 12"), "EMAIL_ADDRESS", 1.0)
    assert settled(text, mail, model(text, text[6:], "LOCATION")) == [
        ("EMAIL_ADDRESS", "a@b.example"), ("LOCATION", "12 Quay"), ("LOCATION", "now"),
    ]  # fmt: skip


def test_what_it_only_describes_gives_way_and_an_identifier_takes_the_type_of_its_value() -> None:
    text = "Acmo Quillan M12345678 x"
    hits = [
        model(text, "Acmo Quillan", "ORGANIZATION"),
        Hit(5, 12, "KR_PERSON", 0.9),
        model(text, "M12345678", "PASSPORT"),
    ]
    assert settled(text, *hits) == [("ORGANIZATION", "Acmo"), ("PERSON", "Quillan"), ("KR_PASSPORT", "M12345678")]


# Through the detectors


TEXTS = [
    ("the order for zorblax quimby, zorblax@shop.example", TextKind.TEXT),
    ("zorblax", TextKind.CODE),
    ("order for zorblax quimby", TextKind.FIELD),
    (f"{'x, ' * 200}lost zorblax", TextKind.TEXT),
]
PEOPLE = [[(14, 28)], [], [], [(605, 612)]]


def people(found: list[tuple[Hit, ...]]) -> list[list[tuple[int, int]]]:
    return [[(hit.start, hit.end) for hit in hits if hit.entity_type == "PERSON"] for hits in found]


def test_a_detector_uses_it_with_and_without_the_filter(detector: Detector, folder: Path) -> None:
    found = detector.find(TEXTS)
    assert people(found) == PEOPLE
    assert ("EMAIL_ADDRESS", 30) in [(hit.entity_type, hit.start) for hit in found[0]]
    unfiltered = Detector(model=folder, prefilter=False)
    unfiltered._engine = detector._engine
    assert unfiltered.find(TEXTS) == found
    assert ("PERSON", 14) in [(hit.entity_type, hit.start) for hit in detector.candidates(TEXTS[0][0])]


@pytest.fixture
def ground(folder: Path, tmp_path: Path) -> Iterator[Ground]:
    made = Ground(Settings(data_home=tmp_path / "home", pii_model=folder))
    yield made
    made.detector.close()
    made.store.close()


def test_the_setting_reaches_a_detector_s_process_and_the_policy_s_version(ground: Ground, tmp_path: Path) -> None:
    assert isinstance(ground.detector, ProcessDetector)
    assert people(ground.detector.find(TEXTS)) == PEOPLE
    without = Ground(Settings(data_home=tmp_path / "home"))
    assert ground.policies.policy("t").version != without.policies.policy("t").version
    without.store.close()


def test_other_weights_are_other_detectors(folder: Path, copy: Path) -> None:
    before = detectors_digest(folder)
    assert before != detectors_digest()
    assert detectors_digest(copy) == before  # the same bytes in another place
    weights = bytearray((copy / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (copy / "model.safetensors").write_bytes(weights)
    assert detectors_digest.__wrapped__(copy) != before
    with pytest.raises(MaskingError, match="no folder"):
        detectors_digest(copy / "none")


def test_the_doctor_says_what_the_model_finds_or_why_there_is_none(folder: Path, tmp_path: Path) -> None:
    def of(path: Path | None) -> list[Finding]:
        return _pii_model(Settings(data_home=tmp_path / "home", pii_model=path))

    assert of(None) == []
    [fine] = of(folder)
    assert (fine.state, "finds EMAIL_ADDRESS, GPE, LOCATION" in fine.means) == ("ok", True)
    [bad] = of(tmp_path / "none")
    assert (bad.state, "there is no folder" in bad.means) == ("problem", True)
    (tmp_path / "gliner_config.json").write_text("{}")
    if find_spec("gliner") is None:
        [missing] = of(tmp_path)
        assert (missing.state, "needs the package gliner" in missing.means) == ("problem", True)


# GLiNER


class Gliner:
    """What the adapter needs of the package's class: sees every ``zorblax``, of at most ``max_len`` words."""

    config = types.SimpleNamespace(max_len=16)
    asked: list[str] = []

    @classmethod
    def from_pretrained(cls, path: str, *, local_files_only: bool) -> Gliner:
        assert local_files_only
        return cls()

    def eval(self) -> None:
        pass

    def inference(self, texts: list[str], labels: list[str], *, threshold: float) -> list[list[dict[str, Any]]]:
        type(self).asked = labels
        assert all(len(text.split()) <= 16 for text in texts)
        return [
            [
                {"start": place, "end": place + 7, "label": "customer", "score": 0.91}
                for place in range(len(text))
                if text.startswith("zorblax", place)
            ]
            for text in texts
        ]


def test_gliner_is_asked_for_what_its_folder_says_window_by_window(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gliner_config.json").write_text("{}")
    assert ModelFolder.read(tmp_path).types["street address"] == "LOCATION"
    (tmp_path / LABELS_FILE).write_text('[labels]\ncustomer = "PERSON"\nplanet = ""\n')
    package = types.ModuleType("gliner")
    package.GLiNER = Gliner  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "gliner", package)
    monkeypatch.setattr("governance.masking.recognisers.heavier_gliner.find_spec", lambda name: package)
    read = ModelFolder.read(tmp_path)
    assert read.kind is Kind.GLINER
    text = "\U0001f600 x " + "zorblax, \U0001f600 x x " * 12
    found = seen(HeavierRecognizer(read), text)
    assert found == [
        ("MODEL_PERSON", "zorblax", place) for place in range(len(text)) if text.startswith("zorblax", place)
    ]
    assert Gliner.asked == ["customer"]
