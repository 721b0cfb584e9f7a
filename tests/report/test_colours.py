"""Colours of the page stay apart for people with protanopia, deuteranopia and tritanopia.

The simulation is that of Machado, Oliveira and Fernandes (2009) for full severity, in linear RGB; distances
are those of CIELAB, where 2 is about the smallest difference that people see side by side.
"""

import json
import re
from pathlib import Path

import numpy as np
import pytest

SOURCE = Path(__file__).resolve().parents[2] / "web" / "src" / "colours.js"
VISION = {
    "normal": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                   [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                     [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                   [0.004733, 0.691367, 0.303900]],
}  # fmt: skip
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
WHITE = np.array([0.95047, 1, 1.08883])
BACKGROUNDS = {"light": [255, 255, 255], "dark": [18, 21, 24]}


def lab(colours, vision):
    shares = np.asarray(colours) / 255
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ np.asarray(VISION[vision]).T, 0, 1) @ TO_XYZ.T / WHITE
    f = np.where(seen > 216 / 24389, np.cbrt(seen), (24389 / 27 * seen + 16) / 116)
    return np.stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], axis=1)


def distances(colours, vision):
    places = lab(colours, vision)
    return np.sqrt(((places[:, None] - places) ** 2).sum(axis=2))


def listed(name):
    text = re.search(rf"const {name} = (\[.*?\]);", SOURCE.read_text(encoding="utf-8"), re.S)[1]
    return json.loads(re.sub(r",\s*\]", "]", text))


def test_the_simulation_knows_red_from_green_only_with_normal_vision():
    red_and_green = [[200, 60, 40], [90, 110, 30]]
    assert distances(red_and_green, "normal")[0, 1] > 60
    assert distances(red_and_green, "deuteranopia")[0, 1] < 25


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("theme", BACKGROUNDS)
def test_classes_are_told_apart(theme, vision):
    colours = listed("CLASSES")[list(BACKGROUNDS).index(theme)]
    apart = distances(colours, vision) + 1000 * np.eye(len(colours))
    for count, least in ((4, 20), (8, 15), (12, 11)):  # the most frequent values come first
        assert apart[:count, :count].min() >= least, f"{count} colours, {vision}"
    assert distances([*colours, BACKGROUNDS[theme]], vision)[-1, :-1].min() >= 25, "against the background"


@pytest.mark.parametrize("vision", VISION)
def test_the_scale_of_numbers_becomes_lighter_all_the_way(vision):
    lightness = lab(listed("RAMP"), vision)[:, 0]
    assert (np.diff(lightness) > 8).all(), "colour blind or not, lightness tells the order"
