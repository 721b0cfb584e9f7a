"""The check of the site's internal links finds what is broken, and nothing else."""

from pathlib import Path


def test_broken_files_and_anchors_are_found(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "tools"))
    from check_links import broken_links

    (tmp_path / "a.html").write_text(
        '<h1 id="top">A</h1><a href="sub/b.html#x">ok</a><a href="#top">ok</a><a href="https://x.y/z">ok</a>'
        '<a href="sub/b.html#y">no</a><a href="c.html">no</a><img src="p.png">'
    )
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.html").write_text('<p id="x"><a href="../a.html">ok</a><a href="#z">no</a>')
    assert sorted(broken_links(tmp_path)) == [
        "a.html: c.html",
        "a.html: p.png",
        "a.html: sub/b.html#y",
        "sub/b.html: #z",
    ]
