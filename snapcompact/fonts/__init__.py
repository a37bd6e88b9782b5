"""fonts"""
