"""A webhook: one POST of JSON, repeated where that may help."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

import urllib3

from aifactory.launch.notify.notice import Notice

PAUSE_SECONDS = 0.5
"""Before the second try; twice as long before each one after that, LONGEST at most."""
LONGEST_SECONDS = 30.0
BUSY = (408, 425, 429, 500, 502, 503, 504)
"""Answers after which the same request may be taken."""


@dataclass(frozen=True)
class Webhook:
    """Posts to `address`: `tries` times, `timeout` seconds each. A receiver may hear a notice twice, and none is lost
    because its answer was."""

    address: str = field(repr=False)
    timeout: float = 5.0
    tries: int = 4
    pause: float = PAUSE_SECONDS

    def tell(self, notice: Notice) -> str:
        """As `Notifier.tell`. Takes at most `tries` times `timeout`, and the pauses."""
        try:
            host = urlsplit(self.address).netloc.rpartition("@")[2]
        except ValueError:
            return "the webhook is no address"
        repeats = urllib3.Retry(
            total=self.tries - 1,
            redirect=0,  # a POST that is sent elsewhere becomes a GET, which nobody takes for a notice
            status_forcelist=BUSY,
            allowed_methods=None,
            backoff_factor=self.pause,
            backoff_max=LONGEST_SECONDS,
            respect_retry_after_header=False,
            raise_on_status=False,
            raise_on_redirect=False,
        )
        try:
            with urllib3.PoolManager(retries=repeats, timeout=urllib3.Timeout(total=self.timeout)) as pool:
                # An answer is looked at, not read: one without an end must not hold a step up.
                answer = pool.request("POST", self.address, json=notice.document(), preload_content=False)
                answer.release_conn()
        except (urllib3.exceptions.HTTPError, OSError, ValueError) as error:
            # The error's own text holds the address, which is a secret.
            reason = getattr(error, "reason", None) or error
            return f"{host} could not be reached {self.tries} times: {type(reason).__name__}"
        if 200 <= answer.status < 300:
            return ""
        return f"{host} answered {answer.status}"
