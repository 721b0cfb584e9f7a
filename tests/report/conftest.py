"""A browser that all tests of pages share."""

import pytest
from browser import started


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    browser = started(tmp_path_factory.mktemp("downloads"))
    yield browser
    browser.driver.quit()
