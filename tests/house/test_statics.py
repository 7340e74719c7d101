"""Static files: URLs contain the digest, and files are found once."""

from wiggum_site.statics import StaticFiles


def collected(storage, folder, text):
    (folder / "page.css").write_text(text)
    list(storage.post_process({"page.css": (storage, "page.css")}))
    return storage.url("page.css")


def test_an_address_is_looked_up_once_and_anew_after_collecting(tmp_path, settings, monkeypatch):
    settings.DEBUG = False
    storage = StaticFiles(location=tmp_path, base_url="/static/")
    first = collected(storage, tmp_path, "a {}")
    assert first.startswith("/static/page.")
    monkeypatch.setattr(storage, "stored_name", lambda name: f"asked-again-for-{name}")
    assert storage.url("page.css") == first
    assert storage.url("other.css") == "/static/asked-again-for-other.css"
    monkeypatch.undo()
    settings.DEBUG = False
    assert collected(storage, tmp_path, "b {}") not in (first, "/static/page.css")


def test_under_development_files_keep_their_names(tmp_path, settings):
    settings.DEBUG = True
    assert StaticFiles(location=tmp_path, base_url="/static/").url("page.css") == "/static/page.css"
