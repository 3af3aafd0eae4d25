"""Certificates of real objects of other libraries."""

import os
from importlib.util import find_spec

import pytest
import tacita

from peers.cases import LIBRARIES

os.environ.setdefault("KERAS_BACKEND", "jax")


@pytest.mark.parametrize("library", LIBRARIES)
def test_certificates_say_what_is_to_be_thought_of_reported_figures(library):
    make, modules = LIBRARIES[library]
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} not installed; .ci/python-peers installs the libraries")
    for one in make():
        if "refused" in one:
            with pytest.raises(tacita.HistoryError, match=one["refused"]):
                tacita.certify(one["run"], **one["options"])
            continue
        certificate = tacita.certify(one["run"], **one["options"])
        assert certificate.verdict == one["verdict"], f"{one['name']}: {certificate}"
        kinds = [finding.kind for finding in certificate.findings]
        assert set(one["found"]) <= set(kinds), f"{one['name']}: {certificate}"
