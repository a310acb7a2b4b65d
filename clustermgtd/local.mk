# clustermgtd
