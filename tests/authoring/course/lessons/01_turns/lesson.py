# ruff: noqa

# %% [markdown]
# # 01 · Turns
#
# Each call pays for the whole prompt again.

# %%
prompts = [100, 140, 200]
sum(prompts)

# %% tags=["nbval-ignore-output"]
import ipywidgets

ipywidgets.IntSlider(description="calls")

# %% [markdown]
# ## Practice · The last prompt


# %% tags=["practice"] question="last_prompt"
def last_prompt(calls):
    """Return the size of the last prompt, 0 where there is none."""
    raise NotImplementedError("Need to implement last_prompt")


# %% [markdown] tags=["hint"] question="last_prompt"
# What does `calls[-1]` do with an empty list?


# %% tags=["practice-solution"] question="last_prompt"
def last_prompt(calls):
    return calls[-1] if calls else 0


# %%
# copy of the list: this stays a comment, and so does
# ls of the folder
# %precision 2
0.123456
