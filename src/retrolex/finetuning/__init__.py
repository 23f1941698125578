"""Fine-tuning: pairs with or without labels, hard negatives, losses, and the way back to the start."""
