"""TODO-MAP store/cache"""
