"""The model layer: where the weights come from, the tokenizer with its chat template, and greedy completion."""
