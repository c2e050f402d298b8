"""TODO-MAP chat"""
