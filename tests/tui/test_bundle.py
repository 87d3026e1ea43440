"""The bundle screen: what would be in it is shown before it is written, items are left out, and what is written is what was shown."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from doctor.bundle.opened import open_recorded
from doctor.host.live import LiveHost
from doctor.host.recorded import open_host
from doctor.text import cell_width
from doctor.tui.job import HostJob
from doctor.tui.screens.bundle import BundleScreen
from doctor.tui.screens.checkup import CheckupScreen
from tests.apply.trees import RULE, book_of, make_root
from tests.tui.driving import HOSTS, PATIENCE, Driven, drive, text_job
from tests.tui.test_golden import LANGUAGES, SIZES, compared

SECRET = "hunter2-hunter2-hunter2"
ANY_HOST = RULE.replace("sysctl.vm.swappiness: '> 10'", "os.id: openeuler")


@pytest.fixture(autouse=True)
def rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """One rule is enough, and the same for ever."""
    book = book_of(ANY_HOST)
    monkeypatch.setattr("doctor.rulebook.load", lambda: book)


async def bundle_opened(driven: Driven) -> BundleScreen:
    await driven.press("B")
    screen = driven.app.screen
    assert isinstance(screen, BundleScreen)
    await settled(driven, screen)
    return screen


async def settled(driven: Driven, screen: BundleScreen) -> None:
    async def there() -> None:
        while screen._watch is not None or screen._writing:
            await driven.pilot.pause(0.01)

    await asyncio.wait_for(there(), PATIENCE)
    await driven.pilot.pause()


async def written_to(driven: Driven, screen: BundleScreen, name: str) -> None:
    await driven.press("W", "ctrl+u")
    screen.query_one("#answer").value = name  # type: ignore[attr-defined]
    await driven.press("enter")
    await settled(driven, screen)


def root_with_a_log(folder: Path) -> HostJob:
    from doctor.logscan.sources import open_sources

    root = make_root(folder / "root", {"/etc/os-release": "ID=openeuler\n"})
    log = folder / "serve.log"
    log.write_text(f"INFO starting\nERROR api_key={SECRET} [/nope][red]\x1b[31m\n")
    return HostJob(LiveHost(str(root)), root=str(root), logs=tuple(open_sources([str(log)])))


def contents(path: Path) -> str:
    """Everything that stands in a bundle."""
    import gzip

    return gzip.decompress(path.read_bytes()).decode("utf-8", "replace")


def test_items_are_shown_with_size_and_masking_and_written(tmp_path: Path) -> None:
    async def act(driven: Driven) -> None:
        driven.app.folder = tmp_path
        screen = await bundle_opened(driven)
        (row,) = [line for line in driven.lines if "serve.log" in line]
        assert "[x]" in row and re.search(r"\d+ B", row) and "masked" in row
        assert "Nothing is written yet" in driven.text and not list(tmp_path.glob("*.tar*"))
        await written_to(driven, screen, "case.tar.gz")
        assert "case.tar.gz" in driven.text and "doctor check --from" in driven.text
        assert (tmp_path / "case.tar.gz").stat().st_mode & 0o777 == 0o600
        assert SECRET not in contents(tmp_path / "case.tar.gz") and "INFO starting" in contents(tmp_path / "case.tar.gz")
        assert open_recorded(tmp_path / "case.tar.gz").host is not None
        await written_to(driven, screen, "case.tar.gz")
        assert "is there already" in driven.text, "nothing is ever overwritten"

    drive(root_with_a_log(tmp_path), act, (120, 40))


def test_what_is_left_out_is_not_in_it(tmp_path: Path) -> None:
    async def act(driven: Driven) -> None:
        driven.app.folder = tmp_path
        screen = await bundle_opened(driven)
        at = next(number for number, line in enumerate(driven.lines) if "serve.log" in line) - 2
        await driven.press(*["down"] * at, "space")
        (row,) = [line for line in driven.lines if "serve.log" in line[:70]]
        assert "[ ]" in row and "left out" in row
        await written_to(driven, screen, "case.tar.gz")
        assert "INFO starting" not in contents(tmp_path / "case.tar.gz")
        await driven.press("space")
        await written_to(driven, screen, "more.tar.gz")
        assert "INFO starting" in contents(tmp_path / "more.tar.gz")

    drive(root_with_a_log(tmp_path), act, (120, 40))


def test_unmasked_says_so_and_in_the_name(tmp_path: Path) -> None:
    async def act(driven: Driven) -> None:
        driven.app.folder = tmp_path
        screen = await bundle_opened(driven)
        for profile in ("public", "raw"):
            await driven.press("M")
            await settled(driven, screen)
            assert f"profile {profile}" in driven.text
        assert "Nothing is masked" in driven.text
        await written_to(driven, screen, "case.tar.gz")
        assert [path.name for path in tmp_path.glob("*.tar.gz")] == ["case-UNREDACTED.tar.gz"]

    drive(root_with_a_log(tmp_path), act)


@pytest.mark.parametrize("name", ["case.zip", "no/such/folder/case.tar.gz"])
def test_a_file_that_cannot_be_written_is_told(tmp_path: Path, name: str) -> None:
    async def act(driven: Driven) -> None:
        driven.app.folder = tmp_path
        screen = await bundle_opened(driven)
        await written_to(driven, screen, name)
        assert "Not saved" in driven.text or "case.zip" in driven.text
        assert not [path for path in tmp_path.iterdir() if path.name not in ("root", "serve.log")]
        await driven.press("escape")
        assert isinstance(driven.app.screen, CheckupScreen)

    drive(root_with_a_log(tmp_path), act)


def test_esc_writes_nothing_and_leaving_stops_the_gathering(tmp_path: Path) -> None:
    async def act(driven: Driven) -> None:
        driven.app.folder = tmp_path
        await bundle_opened(driven)
        await driven.press("W")
        assert "doctor-bundle-" in driven.text
        await driven.press("escape")
        assert isinstance(driven.app.screen, BundleScreen)
        await driven.press("escape", "B", "escape")
        assert isinstance(driven.app.screen, CheckupScreen) and not list(tmp_path.glob("*.tar*"))

    drive(root_with_a_log(tmp_path), act)


def test_what_cannot_be_masked_is_not_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from doctor.bundle import gather

    def fails(*_: object, **__: object) -> None:
        raise gather.RedactionError("[/nope]log")

    monkeypatch.setattr("doctor.bundle.gather.gather", fails)

    async def act(driven: Driven) -> None:
        await bundle_opened(driven)
        assert "could not be masked ([/nope]log)" in driven.text
        await driven.press("W")
        assert "doctor-bundle-" not in driven.text

    drive(root_with_a_log(tmp_path), act)


def test_a_log_alone_has_no_bundle() -> None:
    async def act(driven: Driven) -> None:
        await bundle_opened(driven)
        assert "here is only a log" in driven.text
        await driven.press("space", "W", "M", "r", "escape")
        assert isinstance(driven.app.screen, CheckupScreen)

    drive(text_job("ERROR x\n"), act)


def unsized(lines: list[str], width: int) -> list[str]:
    """Sizes hang on times and versions."""
    plain = [re.sub(r" *[\d.,]+ (B|KiB|MiB)(?![A-Za-z])", " SIZE", line).rstrip() for line in lines]
    return [line + " " * (width - cell_width(line)) for line in plain]


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("language", LANGUAGES)
def test_letter_by_letter(language: str, size: tuple[int, int]) -> None:
    async def act(driven: Driven) -> None:
        await bundle_opened(driven)
        assert {cell_width(line) for line in driven.lines} == {size[0]}
        await driven.press("down", "space")
        compared("bundle", language, size, unsized(driven.lines, size[0]))

    drive(HostJob(open_host(HOSTS / "a2-old-driver")), act, size, language)




def test_the_newest_smoke_test_and_watch_are_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from doctor.bundle.results import keep_smoke
    from doctor.watch.background import state_folder

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    keep_smoke({"exit_code": 1, "token": SECRET}, {"XDG_STATE_HOME": str(tmp_path / "state")}, 1000)
    watched = state_folder({"XDG_STATE_HOME": str(tmp_path / "state")}, 1000)
    watched.mkdir(parents=True)
    (watched / "watch-20260101T000000Z-1.ndjson").write_text('{"t": 1}\n')

    async def act(driven: Driven) -> None:
        driven.app.folder = tmp_path
        screen = await bundle_opened(driven)
        assert "[x] smoke:newest" in screen.plain_text() and "[x] watch:newest" in screen.plain_text()
        await written_to(driven, screen, "case.tar.gz")

    drive(HostJob(LiveHost(str(make_root(tmp_path / "root", {"/etc/os-release": "ID=openeuler\n"}))), root="/"), act, examined=False)
    assert "results/smoke.json" in contents(tmp_path / "case.tar.gz") and SECRET not in contents(tmp_path / "case.tar.gz")
