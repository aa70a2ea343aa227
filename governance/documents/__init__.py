"""Documents by command: what the tables say of a dataset or a release, in the form that a reader expects.

``page`` holds the form (fields with their tables, missing ones said as missing, texts escaped); ``dataset_facts``
gathers once what several documents tell of a dataset; each document is a module of its own.
"""
