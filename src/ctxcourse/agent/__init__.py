"""An agent that investigates an incident: the environment it works in, its recorded run, and what that run cost."""
