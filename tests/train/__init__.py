"""Tests of training data, adapters and what is made of them."""
