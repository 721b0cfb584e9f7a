"""A real browser, and pages to open in it."""

import io
import shutil
import time

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
_SOFTWARE_GRAPHICS = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist")
_HEADLESS = ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage")


class Browser:
    """A driver with the few actions that the tests need."""

    def __init__(self, driver, downloads):
        self.driver, self.downloads = driver, downloads
        self.run = driver.execute_script

    def wait(self, condition, seconds=60):
        end = time.monotonic() + seconds
        while not (value := self.run(f"return {condition}")):
            assert time.monotonic() < end, f"{condition} never held: {self.driver.get_log('browser')}"
            time.sleep(0.02)
        return value

    def open(self, address, seconds=60):
        self.driver.get(address if isinstance(address, str) else address.as_uri())
        self.wait("document.documentElement.dataset.ready === 'yes'", seconds)

    def resize(self, width, height):
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def text(self, identity):
        return self.run("return document.getElementById(arguments[0]).textContent", identity)

    def click(self, selector):
        self.run("document.querySelector(arguments[0]).click()", selector)

    def choose(self, identity, text):
        self.run(
            "const e = document.getElementById(arguments[0]);"
            "e.value = [...e.options].find(o => o.text.startsWith(arguments[1])).value;"
            "e.dispatchEvent(new Event('change'))",
            identity,
            text,
        )

    def enter(self, identity, text):
        from selenium.webdriver.common.by import By

        field = self.driver.find_element(By.ID, identity)
        field.clear()
        field.send_keys(text)
        return field

    def find(self, text):
        from selenium.webdriver.common.keys import Keys

        self.enter("search", text).send_keys(Keys.ENTER)

    def picture(self):
        """The map as it is on the screen, once it has stopped changing."""
        from selenium.webdriver.common.by import By

        stage, last = self.driver.find_element(By.ID, "map"), None
        for _ in range(50):
            now = stage.screenshot_as_png
            if last is not None and _alike(now, last):
                return now
            last = now
            time.sleep(0.1)
        raise AssertionError("the map never rests")

    def kept(self):
        """How many nodes are in the foreground."""
        return self.run("return nafs.state.kept")

    def errors(self):
        return [entry for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]


def _alike(one, other):
    """Whether two pictures are equal but for a shade, by which two drawings of the same scene may differ."""
    from PIL import Image, ImageChops

    first, second = (Image.open(io.BytesIO(picture)).convert("RGB") for picture in (one, other))
    return (
        first.size == second.size
        and max(high for _, high in ImageChops.difference(first, second).getextrema()) < 4
    )


def started(downloads):
    """A headless browser that saves files in a folder."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="pip install selenium")
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("a browser is needed: apt install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in (*_HEADLESS, *_SOFTWARE_GRAPHICS):
        options.add_argument(argument)
    options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.command_executor.client_config.timeout = 600  # a busy machine must not end the session
    driver.set_script_timeout(300)
    browser = Browser(driver, downloads)
    browser.resize(1280, 800)
    return browser
