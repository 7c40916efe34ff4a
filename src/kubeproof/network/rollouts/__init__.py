"""Packets on their way while rules change: rollouts that are checked, and plans that are safe."""
