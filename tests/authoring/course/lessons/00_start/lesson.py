# ruff: noqa

# %% [markdown]
# # Start here
#
# A lesson without exercise and without quiz.

# %%
1 + 1
