"""Random scores as people give them: few levels, ties, gaps, few raters."""

import numpy as np
from hypothesis import strategies as st

LEVELS = (2, 3, 5, 10, 101)


@st.composite
def scores(draw, *, raters=(2, 5), items=(2, 40), gaps=(0.0, 0.3, 0.7)):
    """Items × raters on a whole-number scale; nan for a gap. Raters agree more or less."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    levels, noise = draw(st.sampled_from(LEVELS)), draw(st.sampled_from((0.0, 0.3, 1.0, 5.0)))
    shape = (draw(st.integers(*items)), draw(st.integers(*raters)))
    quality = random.uniform(0, levels - 1, (shape[0], 1))
    found = np.clip(np.round(quality + noise * random.normal(0, levels / 5, shape)), 0, levels - 1)
    found[random.random(shape) < draw(st.sampled_from(gaps))] = np.nan
    return found


def column(values):
    return np.asarray(values, float)[:, None]
