"""How well a judge agrees with people, and with itself. Pure: numpy and scipy, no Django.

Every figure is a function of sums over items, so that a bootstrap over items is a matrix product: see
`bootstrap.py`. `judges.py` puts the figures of one judge together, `pairs.py` those of two.
"""
