"""legibility"""
