"""readback"""
