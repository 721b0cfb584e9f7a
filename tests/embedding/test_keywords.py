"""Keywords that other libraries use."""

import pytest

import nafs


@pytest.mark.parametrize(("keyword", "ours"), [("n_components", "dim"), ("random_state", "seed")])
def test_an_unknown_keyword_names_the_one_that_was_meant(keyword, ours):
    graph = nafs.datasets.power_law(20, n_features=4, seed=0)
    for function in (nafs.embed, nafs.cluster):
        with pytest.raises(TypeError, match=f"'{keyword}'; use {ours}="):
            function(graph, **{keyword: 5})
